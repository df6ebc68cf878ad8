// Text of the dialogs in which an id is typed. `what` names the id.

export const typed = {
  label: (what: string) => `Type the ${what} to confirm`,
  hint: (id: string) => `It is ${id}`,
  mismatch: (what: string) => `This is not the ${what}.`,
};
