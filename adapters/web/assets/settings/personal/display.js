/** How this browser shows things, and its keys. Each choice holds at once. */
import {html} from "../../ui.js";
import {preferences} from "../../preferences.js";
import {Page, Section} from "../page.js";
import {Kept} from "../kept.js";

const CARDS = [["auto", "When it is news"], ["open", "Always open"], ["closed", "Always folded"]];

export function View() {
  return html`<${Page} title="Display and keys" lead="Kept in this browser, for you on this machine. A change takes effect at once.">
    <${Section} title="Looks">
      <${Kept} name="theme" label="Theme" options=${[["system", "System"], ["light", "Light"], ["dark", "Dark"], ["contrast", "High contrast"]]} />
      <${Kept} name="density" label="Density" options=${[["compact", "Compact"], ["normal", "Normal"], ["comfortable", "Comfortable"]]} />
      <${Kept} name="textSize" label="Size of text" options=${[12, 13, 14, 15, 16, 17, 18].map((size) => [size, `${size}`])} help="Of what you read in a chat, in pixels." />
      <${Kept} name="column" label="Width of text" options=${[[640, "Narrow"], [740, "Normal"], [900, "Wide"], [0, "Full"]]} />
    <//>
    <${Section} title="What is open in a chat" lead="News is what runs now, what failed, and what you are asked.">
      <${Kept} name="thinking" label="Thinking" options=${CARDS} />
      <${Kept} name="commands" label="Commands and their output" options=${CARDS} />
      <${Kept} name="diffs" label="Changes of files" options=${CARDS} />
      <${Kept} name="tools" label="Other tools" options=${CARDS} />
    <//>
    <${Section} title="Keys">
      <${Kept} name="sendKey" label="Send a message with" options=${[["enter", "Enter"], ["mod-enter", "Ctrl Enter"]]} help=${preferences.sendKey.value === "enter" ? "Shift Enter begins a new line. On a phone Enter always does." : "On a Mac ⌘ Enter. Enter begins a new line."} />
      <${Kept} name="letters" label="Keys of one letter" options=${[[true, "On"], [false, "Off"]]} help="Such as c for a new chat. They only work outside of text fields; ? shows them all." />
    <//>
  <//>`;
}
