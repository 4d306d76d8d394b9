import { inflateRawSync } from "node:zlib";
import { fail } from "../../core/errors.js";

const [END, ENTRY, LOCAL] = [0x06054b50, 0x02014b50, 0x04034b50];

/**
 * Reads the first file of a zip archive (such as a wheel) whose name ends in `ending`. Format: PKWARE's APPNOTE 6.3.9,
 * sections 4.3.7 to 4.3.16; archives below 4 GiB, stored or deflated. @throws UserError if there is none.
 */
export function fileOfZip(zip: Buffer, ending: string): Buffer {
  let end = zip.length - 22;
  while (end >= 0 && zip.readUInt32LE(end) !== END) end--;
  let at = end < 0 ? zip.length : zip.readUInt32LE(end + 16);
  while (at + 46 <= zip.length && zip.readUInt32LE(at) === ENTRY) {
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    const size = zip.readUInt32LE(at + 20);
    const local = zip.readUInt32LE(at + 42);
    if (zip.toString("utf8", at + 46, at + 46 + name).endsWith(ending)) {
      if (local + 30 > zip.length || zip.readUInt32LE(local) !== LOCAL) break;
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + size);
      return zip.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data);
    }
    at += 46 + name + extra + comment;
  }
  return fail(`The archive holds no file *${ending}, or is cut off.`, { hint: "download it again" });
}
