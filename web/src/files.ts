/** Files out of the page, and into it. */

import { readCsv } from "./csv.ts";
import { Refused, fromDocument } from "./document.ts";
import { change, checkProof, message, play, setData } from "./player.ts";
import { fromPlain } from "./share.ts";

export function download(name: string, content: string | Blob, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Take text that was pasted or dropped: CSV, a run document, a saved situation or a proof. */
export function take(text: string, name: string, target = "", tabs = false): void {
  try {
    if (/^\s*[{[]/.test(text)) {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        throw new Refused("This looks like JSON, but it is damaged. Save it again.");
      }
      const format = (value as { format?: unknown } | null)?.format;
      if (format === "rosenblatt-proof") checkProof(text);
      else if (format === "rosenblatt-lab") {
        const kept = fromPlain(value);
        change(kept.situation, { at: kept.position });
      } else {
        play(fromDocument(value), "A recorded run", name);
        message.value = "A recorded run. Change anything to train anew in the page.";
      }
      return;
    }
    const { data, says } = readCsv(text, name, target, tabs);
    setData(data);
    message.value = `${data.X.length} points read. ${says} ${data.labels.length > 2 ? `There are ${data.labels.length} classes.` : `“${data.labels[1]}” is the positive class.`}`;
  } catch (error) {
    message.value = error instanceof Refused ? error.message : "This file cannot be read as data. Use CSV with a column of labels.";
  }
}

export async function takeFile(file: File, target = ""): Promise<void> {
  if (file.size > 20_000_000) {
    message.value = "This file is too large for the page.";
    return;
  }
  take(await file.text(), file.name.replace(/\.\w+$/, "").slice(0, 60), target, /\.tsv$/i.test(file.name));
}

/** The picture as PNG, twice as large as on the screen. */
export function toPng(svg: string, width: number, height: number): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [2 * width, 2 * height];
      canvas.getContext("2d")!.drawImage(image, 0, 0, 2 * width, 2 * height);
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Refused("The picture could not be written."))));
    };
    image.onerror = () => reject(new Refused("The picture could not be drawn."));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}
