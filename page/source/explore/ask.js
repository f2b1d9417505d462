// Requests: each has a number, the newest of a slot is the one that counts, and a drag has one on its way at a time.
export class Asker {
  constructor(link, heard) {
    Object.assign(this, {link, heard, next: 1, newest: {}, waiting: {}, busy: {}, held: {}});
    link.onmessage = (head) => this.receive(head);
  }
  ask(kind, slot, rest = {}) {
    const id = this.next++;
    this.newest[slot] = {id, kind, began: performance.now()};
    this.busy[slot] = true;
    this.held[slot] = null;
    delete this.waiting[slot];
    this.link.send({v: 1, id, kind, slot, ...rest});
    return id;
  }
  // Sent once the last one of its slot has given its part `until` (null: its last one); one that waits is replaced.
  pull(kind, slot, rest, until = null) {
    if (this.busy[slot] && this.held[slot] !== null) { this.waiting[slot] = [kind, rest, until]; return; }
    this.ask(kind, slot, rest);
    this.held[slot] = until ?? "";
  }
  receive(head) {
    const slot = Object.keys(this.newest).find((name) => this.newest[name].id === head.re);
    if (!slot) return;  // stale
    head.slot = slot;
    head.kind = this.newest[slot].kind;
    head.took = performance.now() - this.newest[slot].began;
    if (head.done) this.busy[slot] = false;
    const wait = this.waiting[slot], free = head.done || head.part === this.held[slot];
    if (free) this.held[slot] = null;
    this.heard(head);
    if (free && wait && this.waiting[slot] === wait) { delete this.waiting[slot]; this.pull(wait[0], slot, wait[1], wait[2]); }
  }
  reset() { this.newest = {}; this.waiting = {}; this.busy = {}; this.held = {}; }
  quiet(slot) { return !this.busy[slot] && !this.waiting[slot]; }
}
