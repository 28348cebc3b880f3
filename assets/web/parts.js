// A session's view as it comes, part by part. Long texts come once, as parts of their own that others name
// (ui/sharing.py); here they are put where they are named.
const HELD = "held ";

export class Parts {
  constructor() { this.held = new Map(); }

  // Takes changed parts in. Held values never change: their names are made of what they hold.
  take(changed) {
    for (const [name, value] of Object.entries(changed)) if (name.startsWith(HELD)) this.held.set(name.slice(HELD.length), value);
    for (const [name, value] of Object.entries(changed)) if (!name.startsWith(HELD)) this[name] = this.whole(value);
  }

  whole(value) {
    if (Array.isArray(value)) return value.map((each) => this.whole(each));
    if (value === null || typeof value !== "object") return value;
    if (typeof value.held === "string") return this.held.get(value.held);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.whole(each)]));
  }
}
