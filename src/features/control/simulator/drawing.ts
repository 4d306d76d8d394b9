import { BIN_HALF, BINS, CAN } from "./scene.js";

/** Number of frames in a strip. */
const FRAMES = 8;
/** Region of the table in a frame in millimetres, from above and from the side, and the frame's width in pixels. */
const VIEW = { x: -300, y: -240, width: 620, height: 480, side: 300, pixels: 150 } as const;

/** A row of an episode's path: centimetres (environments/control.ts). */
type Row = readonly number[];

/**
 * Draws a strip of frames as SVG, each from above (x to the right, y up) and from the side (z up), from the recorded
 * positions of hand, fingers and can. Sizes are those of the scene; the can is drawn upright whatever its tilt.
 */
export function drawStrip(path: readonly Row[], bin: number): string {
  const last = path.length - 1;
  const picks = [...new Set(Array.from({ length: FRAMES }, (_, i) => Math.round((i * last) / (FRAMES - 1))))];
  const height = VIEW.height + VIEW.side;
  const frames = picks.map((t, i) => frame(path[t] as Row, bin, t, i * VIEW.width));
  return (
    `<svg viewBox="0 0 ${picks.length * VIEW.width} ${height}" width="${picks.length * VIEW.pixels}" role="img"` +
    ` aria-label="${picks.length} moments of the episode, from above and from the side" fill="none" stroke="currentColor"` +
    ` stroke-width="3" font-size="34">${frames.join("")}</svg>`
  );
}

function frame(row: Row, target: number, t: number, left: number): string {
  const [hx = 0, hy = 0, hz = 0, width = 0, cx = 0, cy = 0, cz = 0] = row.map((centimetre) => 10 * centimetre);
  const [radius, half, bin] = [CAN.radius * 1000, CAN.half * 1000, BIN_HALF * 1000];
  const rect = (x: number, y: number, w: number, h: number, style = ""): string =>
    `<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"${style}/>`;
  const bins = BINS.map(([x, y], i) => {
    const style = i === target ? ` stroke-width="9"` : ` stroke-dasharray="12 12"`;
    return rect(1000 * x - bin, -1000 * y - bin, 2 * bin, 2 * bin, style);
  });
  const grey = ` fill="currentColor" fill-opacity=".35"`;
  const above = [
    ...bins,
    `<circle cx="${round(cx)}" cy="${round(-cy)}" r="${radius}"${grey}/>`,
    ...[1, -1].map((side) => rect(hx - 12, -(hy + side * (width + 6)) - 6, 24, 12, ` fill="currentColor"`)),
  ];
  const floor = VIEW.side - 20;
  const beside = [
    `<path d="M${VIEW.x} ${floor}h${VIEW.width}"/>`,
    rect(cx - radius, floor - cz - half, 2 * radius, 2 * half, grey),
    rect(hx - 12, floor - hz - 42, 24, 60, ` fill="currentColor" fill-opacity=".7"`),
  ];
  return (
    `<g transform="translate(${left - VIEW.x} ${-VIEW.y})"><path d="M${VIEW.x} ${VIEW.y}v${VIEW.height + VIEW.side}" stroke-opacity=".3"/>${above.join("")}` +
    `<text x="${VIEW.x + 16}" y="${VIEW.y + 40}" fill="currentColor" stroke="none">${t + 1}</text>` +
    `<g transform="translate(0 ${VIEW.y + VIEW.height})">${beside.join("")}</g></g>`
  );
}

const round = (x: number): number => Math.round(x);
