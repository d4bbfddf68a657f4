/** The situation is kept as one works: in the address, or in the storage of the tab where it is too long for one. */

import { effect } from "@preact/signals";
import { Refused } from "./document.ts";
import { resume, solved } from "./LessonPanel.tsx";
import { inVisits, isDragging, lesson, message, played, playing, situation } from "./player.ts";
import { LONGEST, type Kept, fromHash, fromPlain, toFile, toHash } from "./share.ts";

const PLACE = "rosenblatt-lab";
const LEARNT = "rosenblatt-lab-lessons";
const QUIET = 300; // milliseconds without a change, after which the situation is kept

/** The storage of this tab; null in a frame that has none, such as the output of a notebook. */
function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** What was kept in this tab before it was loaded again; null where there is nothing, or something damaged. */
export async function fromTab(): Promise<Kept | null> {
  if (location.hash) return fromHash(location.hash);
  const text = storage()?.getItem(PLACE);
  if (!text) return null;
  try {
    return fromPlain(JSON.parse(text));
  } catch {
    throw new Refused("What this tab kept of the work before cannot be read. The page shows its first example.");
  }
}

/** Go on with the lesson of this tab, if its situation is still there, and keep what is solved. */
export function keepLessons(back: boolean): void {
  const room = storage();
  try {
    const { at, done } = JSON.parse(room?.getItem(LEARNT) ?? "") as { at: unknown; done: unknown };
    if (Array.isArray(done)) resume(back && Number.isInteger(at) ? (at as number) : -1, done.filter(Number.isInteger));
  } catch {
    // Nothing was kept, or it is damaged: no lesson is solved.
  }
  effect(() => {
    const text = JSON.stringify({ at: lesson.value, done: [...solved.value] });
    try {
      room?.setItem(LEARNT, text);
    } catch {
      if (solved.value.size) message.value = "The browser has no room to keep which lessons are solved.";
    }
  });
}

/** Keep the situation from the first change on. A recorded run is not kept: it is in its file, or in the page. */
export function keepOn(): void {
  if (!/^(file|https?):$/.test(location.protocol)) return; // a frame of a notebook has no address of its own
  const first = situation.peek();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let told = false;
  const keep = async (): Promise<void> => {
    if (isDragging.peek() || playing.peek()) return;
    const kept = { situation: situation.peek(), position: inVisits.peek() };
    const room = storage();
    const hash = kept.situation.data.X.length * kept.situation.data.features.length < 4 * LONGEST ? await toHash(kept) : "";
    if (kept.situation !== situation.peek()) return; // changed meanwhile, and kept anew
    const short = hash !== "" && hash.length <= LONGEST;
    history.replaceState(null, "", short ? hash : location.pathname + location.search);
    try {
      if (short) room?.removeItem(PLACE);
      else room?.setItem(PLACE, toFile(kept));
    } catch {
      if (!told) message.value = "This situation is too large for the browser to keep. Save it as a file, under Share, before you leave the page.";
      told = true;
    }
  };
  effect(() => {
    const [now, at] = [situation.value, inVisits.value];
    const still = !playing.value && !isDragging.value;
    clearTimeout(timer);
    if (played.value || !still || (now === first && at === 0)) return;
    timer = setTimeout(() => void keep(), QUIET);
  });
}

