/** Give a person a file that was made here. */

/** @param {string} name @param {string | Uint8Array<ArrayBuffer>} text @param {string} [type] */
export function download(name, text, type = "text/markdown") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
