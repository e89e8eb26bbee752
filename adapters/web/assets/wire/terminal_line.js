// The socket of one terminal, which is kept: what is missed while it is broken comes afterwards, once.
//
//   const line = openTerminal({workspace, id, onOutput, onSize, onEnd, onState})
//   line.type(text)  line.bytes(text)  line.resize(rows, columns)  line.again()  line.close()
//
// `onOutput(bytes, lost)`: with `lost` something before it was forgotten by the daemon.

import { newOutput, byteMessages, readMessage, sizeMessage, typedMessages } from "../state/terminal_wire.js";
import { ApiError, api } from "./api.js";
import { dialSocket } from "./dial.js";
import { keepLine } from "./line.js";

const SILENCE_MS = 120_000; // a shell that waits says nothing, and the line may be dead

/** @param {string} workspace */
export const terminalsOf = (workspace) => `/api/v2/workspaces/${workspace}/terminals`;

/**
 * @param {{workspace: string, id: string, onOutput: (bytes: Uint8Array, lost: boolean) => void,
 *   onSize: (rows: number, columns: number) => void, onEnd: (end: {exit: number, why: string}) => void,
 *   onState: (state: import("./line.js").LineState) => void}} parts
 */
export function openTerminal({ workspace, id, onOutput, onSize, onEnd, onState }) {
  let has = 0;
  /** @type {WebSocket | null} */
  let socket = null;
  /** @param {ArrayBuffer} message */
  const hear = (message) => {
    const said = readMessage(message);
    if (said.kind === "output") {
      const found = newOutput(has, said);
      has = found.has;
      if (found.bytes.length) onOutput(found.bytes, found.lost);
    } else if (said.kind === "size") onSize(said.rows, said.columns);
    else if (said.kind === "end") {
      line.close();
      onEnd(said);
    }
  };
  const line = keepLine({
    dial: (_, heard) => dialSocket(`${terminalsOf(workspace)}/${id}/stream?after=${has}`, heard, (opened) => (socket = opened)),
    onOpen: () => {},
    onData: hear,
    onState,
    probe: () => whyRefused(workspace, id),
    silenceMs: () => SILENCE_MS,
  });
  /** @param {Uint8Array<ArrayBuffer>[]} messages */
  const send = (messages) => {
    if (socket?.readyState === WebSocket.OPEN) for (const each of messages) socket.send(each);
  };
  return {
    type: (/** @type {string} */ text) => send(typedMessages(text)),
    bytes: (/** @type {string} */ text) => send(byteMessages(text)),
    resize: (/** @type {number} */ rows, /** @type {number} */ columns) => send([sizeMessage(rows, columns)]),
    again: () => line.again(),
    close: () => line.close(),
  };
}

/** @param {string} workspace @param {string} id @returns {Promise<"again" | "gone">} */
async function whyRefused(workspace, id) {
  try {
    const { terminals } = await api.get(terminalsOf(workspace));
    return terminals.some((/** @type {{id: string}} */ each) => each.id === id) ? "again" : "gone";
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return "gone";
    throw error;
  }
}
