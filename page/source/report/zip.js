// Files as one zip file, stored as they are: pictures are packed already, tables are small.
const CRC = Uint32Array.from({length: 256}, (_, n) => { let c = n; for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c >>> 0; });
function checksum(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = CRC[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
export function zipped(files) {
  const coder = new TextEncoder(), parts = [], directory = [], now = new Date();
  const time = now.getHours() << 11 | now.getMinutes() << 5 | now.getSeconds() >> 1, day = (now.getFullYear() - 1980) << 9 | (now.getMonth() + 1) << 5 | now.getDate();
  const pack = (sizes, values) => {
    const view = new DataView(new ArrayBuffer(sizes.reduce((a, b) => a + b)));
    let at = 0;
    sizes.forEach((size, i) => { if (size === 2) view.setUint16(at, values[i], true); else view.setUint32(at, values[i], true); at += size; });
    return new Uint8Array(view.buffer);
  };
  let at = 0, listed = 0;
  for (const [name, content] of files) {
    const own = coder.encode(name), bytes = typeof content === "string" ? coder.encode(content) : content, sum = checksum(bytes);
    const common = [20, 0x0800, 0, time, day, sum, bytes.length, bytes.length, own.length, 0], sizes = [2, 2, 2, 2, 2, 4, 4, 4, 2, 2];
    const head = pack([4, ...sizes], [0x04034b50, ...common]);
    const entry = pack([4, 2, ...sizes, 2, 2, 2, 4, 4], [0x02014b50, 20, ...common, 0, 0, 0, 0, at]);
    parts.push(head, own, bytes);
    directory.push(entry, own);
    at += head.length + own.length + bytes.length;
    listed += entry.length + own.length;
  }
  const end = pack([4, 2, 2, 2, 2, 4, 4, 2], [0x06054b50, 0, 0, files.length, files.length, listed, at, 0]);
  return new Blob([...parts, ...directory, end], {type: "application/zip"});
}
