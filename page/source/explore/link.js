// Links to Python: a WebSocket in a browser, a widget's messages in a notebook. A link is {send, onmessage, onstate}.
const TYPES = {f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array};
const PAUSES = [1000, 2000, 4000, 8000];
const count = (shape) => shape.reduce((a, b) => a * b, 1);

// The head of a binary frame, with its arrays in place.
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true), head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const first = 4 + length + (8 - (4 + length) % 8) % 8;
  for (const [name, [kind, shape, at]] of Object.entries(head.arrays)) head.arrays[name] = new TYPES[kind](buffer, first + at, count(shape));
  return head;
}
export function withBuffers(head, buffers) {
  for (const [name, [kind, shape, number]] of Object.entries(head.arrays)) {
    const view = buffers[number], bytes = view.buffer ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view.slice(0);
    head.arrays[name] = new TYPES[kind](bytes, 0, count(shape));
  }
  return head;
}

export class SocketLink {
  constructor(address, token) {
    Object.assign(this, {address, token, tries: 0, open: false, ended: false, onmessage: () => {}, onstate: () => {}});
  }
  start() { this.connect(); }
  connect() {
    if (this.ended) return;
    const socket = this.socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(this.token);
    socket.onmessage = ({data}) => {
      if (typeof data === "string") { this.open = true; this.tries = 0; this.onstate("open"); return; }
      this.onmessage(unpack(data));
    };
    socket.onclose = ({code}) => {
      const was = this.open;
      this.open = false;
      if (code === 4401 || code === 4403) { this.ended = true; this.onstate("refused"); return; }
      if (code === 4408) { this.ended = true; this.onstate("idle"); return; }
      this.onstate(was ? "lost" : "waiting");
      this.timer = setTimeout(() => this.connect(), PAUSES[Math.min(this.tries++, PAUSES.length - 1)]);
    };
  }
  again() { clearTimeout(this.timer); this.ended = false; this.tries = 0; if (!this.open) this.connect(); }
  send(message) { if (this.open) this.socket.send(JSON.stringify(message)); }
  close() { this.ended = true; clearTimeout(this.timer); if (this.socket) this.socket.close(); }
}

export class WidgetLink {
  constructor(model) {
    Object.assign(this, {model, onmessage: () => {}, onstate: () => {}, open: true});
    this.hear = (message, buffers) => { if (message && message.re !== undefined) this.onmessage(withBuffers(message, buffers || [])); };
  }
  start() { this.model.on("msg:custom", this.hear); this.onstate("open"); }
  again() {}
  send(message) { this.model.send(message); }
  close() { this.model.off("msg:custom", this.hear); }
}
