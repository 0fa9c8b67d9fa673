// All prompts of the table: verb → what is asked in words, and the buttons that answer it.

import { AGREEMENT } from "./prompts_agreement.js";
import { BIDS } from "./prompts_bids.js";
import { BOOK } from "./prompts_book.js";
import { ENTRY } from "./prompts_entry.js";
import { MATCH } from "./prompts_match.js";
import { OPENING } from "./prompts_opening.js";
import { PLAY } from "./prompts_play.js";

/** verb → task of a want; null where the want has nothing to say (then waiting is shown). */
export const ANSWERS = { ...OPENING, ...BIDS, ...PLAY, ...BOOK, ...ENTRY, ...AGREEMENT, ...MATCH };
