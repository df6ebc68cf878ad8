//! Offers: `POST /v1/offer/api` (`design.md` section 4).
