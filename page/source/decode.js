// A picture as Python sends it: a head as JSON whose numbers lie in base64, to what `draw` takes.
export const VERSION = 1;
const KINDS = {f8: Float64Array, f4: Float32Array, b1: Uint8Array};

export function decode(sent) {
  if (sent.v !== VERSION) throw new Error(`a picture of version ${sent.v} cannot be drawn by version ${VERSION}`);
  const arrays = sent.arrays.map(unpacked);
  // Arrays are the only objects with a single key "a".
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    if ("a" in value) return arrays[value.a];
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, filled(own)]));
  };
  return filled(sent.picture);
}
export function unpacked([kind, shape, text]) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), values = Array.from(new KINDS[kind](bytes.buffer));
  const nested = (sizes, from, to) => {
    if (sizes.length === 1) return values.slice(from, to);
    const step = (to - from) / sizes[0];
    return Array.from({length: sizes[0]}, (_, i) => nested(sizes.slice(1), from + i * step, from + (i + 1) * step));
  };
  return nested(shape, 0, values.length);
}
