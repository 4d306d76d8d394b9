import { crc32 } from "node:zlib";

/** A file of an archive. */
export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** 1 January 1980: equal files make equal archives. */
const DATE = 0x21;
const UTF8 = 0x800;

/** A ZIP archive whose files are stored as they are (APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.16). */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const path = Buffer.from(name);
    // from "version needed" to "extra field length", which both headers share
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(UTF8, 2);
    shared.writeUInt16LE(DATE, 8);
    shared.writeUInt32LE(crc32(Buffer.from(bytes)), 10);
    shared.writeUInt32LE(bytes.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const central = Buffer.alloc(14);
    // a plain file that everybody may read
    central.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    central.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002"), Buffer.from([20, 3]), shared, central, path);
    const local = [Buffer.from("PK\u0003\u0004"), shared, path, Buffer.from(bytes)];
    parts.push(...local);
    offset += local.reduce((n, part) => n + part.length, 0);
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
