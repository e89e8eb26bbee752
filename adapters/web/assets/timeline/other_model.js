// Another model: for a turn that goes on, and for a message that is sent again.

import { catalogue, readModels } from "../composer/catalogue.js";
import { ask } from "../shared/dialog.js";
import { openMenu } from "../shared/menu.js";
import { toast } from "../shared/toast.js";
import { vendorMark } from "../shared/vendor_mark.js";
import { textOf } from "./turn.js";

/** @typedef {import("./acts.js").Desk} Desk */

/** @param {Desk} desk @param {{message: number, at: Element}} what */
export async function resend({ conversation }, { message, at }) {
  const { messages, queue } = conversation.state.peek();
  const found = messages.find((each) => each.id === message);
  if (!found) return;
  withModel(at, async (model) => {
    const follows = messages.some((each) => each.id > message);
    const text = `What follows this message is removed${queue.length ? ", and the queue is cleared" : ""}.`;
    if (follows && !(await ask({ title: "Send it again?", text, yes: "Send again" }))) return;
    try {
      await conversation.edit(message, { ...writtenOf(/** @type {any} */ (found)), model });
    } catch (error) {
      toast(`It was not sent: ${/** @type {Error} */ (error).message}`);
    }
  });
}

/** @param {import("./items.js").Message} message */
function writtenOf(message) {
  const files = message.content.filter((part) => part.type === "file");
  const refs = message.content.filter((part) => part.type === "file-reference");
  return {
    text: textOf(message),
    files: files.map((part) => ({ id: part.file_id, name: part.name, type: part.media_type })),
    refs: /** @type {any} */ (refs),
  };
}

/** Let a model be chosen. @param {Element} at @param {(model: string) => void} run */
export async function withModel(at, run) {
  await readModels();
  const { groups, why } = catalogue.value;
  const items = groups.flatMap((group) =>
    group.models.map((model) => ({ label: model.name, mark: vendorMark(group.vendor), disabled: model.why || false, run: () => run(model.id) })),
  );
  if (items.length) openMenu({ at, label: "Model", items });
  else toast(why || "There is no model.");
}
