import type { Graph } from "./types.js";

/**
 * The names in use in a graph, of nodes and values alike. Names that this program makes up begin with "/", and are taken
 * by `fresh`; inputs, outputs and weights have names of their own, without "/", and are claimed. So neither kind can
 * meet the other, whatever names a file brings.
 */
export class Names {
  private readonly used = new Set<string>();
  /** The next number to try for a name. */
  private readonly next = new Map<string, number>();

  constructor(private readonly where: string) {}

  /** Returns the names of a graph. */
  static of({ name, inputs, nodes, initializers }: Graph): Names {
    const names = new Names(name);
    for (const value of [...inputs, ...nodes.flatMap((node) => [node, ...node.outputs])]) names.used.add(value.name);
    for (const name of initializers.keys()) names.used.add(name);
    return names;
  }

  /** Takes a name as it is. @throws Error where it is in use. */
  claim(name: string): void {
    if (this.used.has(name)) throw new Error(`the name ${name} is used twice in graph ${this.where}`);
    this.used.add(name);
  }

  /** Takes an unused name: `base`, or `base` with a number. */
  fresh(base: string): string {
    let name = base;
    let i = this.next.get(base) ?? 1;
    while (this.used.has(name)) name = `${base}_${i++}`;
    this.next.set(base, i);
    this.used.add(name);
    return name;
  }
}
