// Text of a form that changes a part of a document.

export const form = {
  save: "Save",
  discard: "Discard changes",
  saved: "Saved.",
  unsaved: "Not saved yet.",
  changedTitle: "Somebody else changed this",
  loaded: "Nothing was saved. The form now has their change, and what you typed is still here: check it, then save.",
  loadedAgain: "Their change is loaded. You have no changes left to save.",
  notLoaded: "Nothing was saved, and the latest state could not be loaded.",
  loadedAsked: "Nothing was changed. The page shows the latest state: check that you still want this.",
  clash: "Nothing was saved. You both changed these fields: choose a value for each, then save.",
  field: "Field",
  theirs: "Theirs",
  mine: "Yours",
  take: { theirs: "Take theirs", mine: "Keep mine" },
  empty: "empty",
};
