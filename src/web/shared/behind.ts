// The delay between an event and the page that shows it.

// A change usually takes up to 4 seconds to arrive. A page that is further behind says so.
const USUAL_MILLISECONDS = 5000;

export const isBehind = (milliseconds: number) => milliseconds > USUAL_MILLISECONDS;
