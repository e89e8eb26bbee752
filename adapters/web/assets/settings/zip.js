/** Several texts as one archive, as they are: nothing is compressed. Pure. */

/**
 * @param {[string, string][]} files names and texts
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function zipOf(files) {
  /** @type {Uint8Array[]} */
  const pieces = [], entries = [];
  let at = 0;
  for (const [name, text] of files) {
    const [path, content] = [name, text].map((each) => new TextEncoder().encode(each));
    const about = numbers([20, 0x0800, 0, 0, 0x21], [crcOf(content), content.length, content.length], [path.length, 0]);
    const head = joined([numbers([], [0x04034b50], []), about, path]);
    entries.push(joined([numbers([], [0x02014b50], [20]), about, numbers([0, 0, 0], [0, at], []), path]));
    pieces.push(head, content);
    at += head.length + content.length;
  }
  const index = joined(entries);
  const end = joined([numbers([], [0x06054b50], [0, 0, files.length, files.length]), numbers([], [index.length, at], [0])]);
  return joined([...pieces, index, end]);
}

/** Return numbers of two, of four and again of two bytes, the lowest byte first. @param {number[]} before @param {number[]} long @param {number[]} after */
function numbers(before, long, after) {
  const bytes = new DataView(new ArrayBuffer(2 * before.length + 4 * long.length + 2 * after.length));
  let at = 0;
  for (const each of before) bytes.setUint16((at += 2) - 2, each, true);
  for (const each of long) bytes.setUint32((at += 4) - 4, each, true);
  for (const each of after) bytes.setUint16((at += 2) - 2, each, true);
  return new Uint8Array(bytes.buffer);
}

/** @param {Uint8Array[]} pieces */
function joined(pieces) {
  const whole = new Uint8Array(pieces.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of pieces) { whole.set(each, at); at += each.length; }
  return whole;
}

/** @param {Uint8Array} bytes */
function crcOf(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
