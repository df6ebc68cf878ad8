// Text of a form that changes a part of a document.

export const form = {
  save: "Save",
  discard: "Discard changes",
  saved: "Saved.",
  unsaved: "Not saved yet.",
  changedTitle: "Somebody else changed this",
  changed: "Nothing was saved. Load it again; what you typed here stays.",
  changedAsked: "Nothing was changed. Load it again, then decide.",
  loadAgain: "Load it again",
  loaded: "It was loaded again. What you typed is still here: check it, then save.",
  loadedAgain: "It was loaded again.",
  loadedAsked: "It was loaded again. Check that you still want this.",
};
