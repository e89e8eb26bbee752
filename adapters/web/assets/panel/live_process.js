// What a command in the background writes, as it writes it.

import { useEffect, useSignal } from "../ui.js";

/** @typedef {import("./processes_of.js").Process} Process */

/**
 * Follow a command that goes on beside its chat. Returns it with what is known of it now; null for one that
 * is not followed: it has ended, a call waits for it, or the daemon does not know it.
 * @param {string | undefined} chat @param {Process} process
 * @returns {Process | null}
 */
export function useLive(chat, process) {
  const found = useSignal(/** @type {Process | null} */ (null));
  const isFollowed = chat && process.id && process.state === "running";
  useEffect(() => {
    if (!isFollowed) return;
    let output = "";
    const source = new EventSource(`/api/v2/chats/${chat}/processes/${process.id}/output`);
    // A stream that is opened again begins with all that is kept.
    source.onopen = () => (output = "");
    source.onmessage = (event) => {
      const { text, resets } = JSON.parse(event.data);
      output = resets ? text : output + text;
      found.value = { ...process, output, heard: "" };
    };
    source.addEventListener("end", (event) => {
      const { exit_code: exit, why } = JSON.parse(event.data);
      source.close();
      found.value = { ...process, output, state: exit ? "failed" : "done", exit, note: why, heard: "" };
    });
    return () => {
      source.close();
      found.value = null;
    };
  }, [chat, process.id, isFollowed]);
  return isFollowed ? found.value : null;
}
