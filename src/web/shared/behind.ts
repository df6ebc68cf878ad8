// How far what a page shows is behind what has happened.

// A change takes up to 4 seconds to arrive. What is behind by more says so.
const USUAL_MILLISECONDS = 5000;

export const isBehind = (milliseconds: number) => milliseconds > USUAL_MILLISECONDS;
