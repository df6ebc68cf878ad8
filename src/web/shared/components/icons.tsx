// Icons, 16 by 16. They repeat what a text or a label says, so a screen reader skips them.

const draw = (path: string) => () => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path
      d={path}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);

export const ChevronDown = draw("M4 6l4 4 4-4");
export const ChevronLeft = draw("M10 4L6 8l4 4");
export const ChevronRight = draw("M6 4l4 4-4 4");
export const Check = draw("M3.5 8.5l3 3 6-7");
export const Cross = draw("M4 4l8 8M12 4l-8 8");
export const Plus = draw("M8 3.5v9M3.5 8h9");
export const Copy = draw("M6 5.5h6.5v8H6zM9.5 5.5v-3h-6v8H6");
export const Download = draw("M8 2.5v8M4.5 7.5L8 11l3.5-3.5M3 13.5h10");
export const ArrowUp = draw("M8 13V3.5M4.5 7L8 3.5 11.5 7");
export const ArrowDown = draw("M8 3v9.5M4.5 9L8 12.5 11.5 9");
export const Sortable = draw("M5 6.5L8 3.5l3 3M5 9.5l3 3 3-3");
export const Calendar = draw("M3 4.5h10v9H3zM3 7.5h10M5.5 2.5v2M10.5 2.5v2");
export const Warning = draw("M8 2.5l6 11H2zM8 7v3M8 11.8v.1");
export const Info = draw("M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.5v3.2M8 5.2v.1");

/** The product's sign: a post with two boards. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
    <path d="M10 1.5v17" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
    <path d="M4 3.5h10l3 2.5-3 2.5H4z" fill="var(--accent)" />
    <path d="M16 10.5H7l-3 2 3 2h9z" fill="currentColor" />
  </svg>
);
