//! Offer texts are shown as plain text (`design.md` section 4): what an advertiser's feed brings as HTML loses its
//! tags and entities and keeps its line breaks.
