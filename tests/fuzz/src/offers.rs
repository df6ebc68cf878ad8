//! Fuzz target for offers requests: parser, selection from the demo's listing, and the page.

use std::sync::LazyLock;

use serde_json::{Value, json};
use url::form_urlencoded;

use super::world::{CATALOG, listing_of};
use domain::{
    catalog::Offer,
    model::{AppId, Country, OfferType, Platform},
    offers::{
        page::{AppListing, Page, parts},
        request::{Filter, MAX_FILTERS, MAX_SIZE, MAX_VALUES, OffersRequest},
        selection::{Selection, Selector},
    },
    snapshot::{bodies::Chunk, listing::Listing},
};

struct DemoOffers {
    selector: Selector,
    chunks: Vec<(String, Chunk)>,
}

impl DemoOffers {
    fn open() -> Self {
        let published = CATALOG.published();
        let chunks = published.chunks.into_iter();
        Self {
            selector: Selector::new(Listing::open(published.index).unwrap()),
            chunks: chunks.map(|(key, value)| (key, Chunk::open(value).unwrap())).collect(),
        }
    }
}

thread_local! {
    /// Thread-local, since a selector caches results in cells.
    static DEMO: LazyLock<DemoOffers> = LazyLock::new(DemoOffers::open);
}

/// Input: the body of a POST, or after a `?` the query of a GET.
///
/// An accepted request is within its limits and reads the same when written again in either form. It selects the rows
/// that pass its filters, each once and in order, and the page is JSON that contains them.
pub fn request(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let read = match text.strip_prefix('?') {
        Some(query) => OffersRequest::from_query(query),
        None => OffersRequest::from_body(text),
    };
    let request = match read {
        Ok(request) => request,
        Err(refusal) => {
            assert_eq!(refusal.status, 400);
            return;
        }
    };
    assert!(request.page >= 1 && (1..=MAX_SIZE).contains(&request.size));
    assert!(request.filters.len() <= MAX_FILTERS);
    let filt: Vec<_> = request.filters.iter().map(written).collect();
    // A filter of only invalid ids has no values, so it cannot be written.
    if request.filters.iter().all(|filter| *filter != Filter::OfferId(vec![])) {
        let body = json!({ "page": request.page, "size": request.size, "filt": filt });
        assert_eq!(OffersRequest::from_body(&body.to_string()).as_ref(), Ok(&request));
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("filt", &json!(filt).to_string())
            .append_pair("size", &request.size.to_string())
            .append_pair("page", &request.page.to_string())
            .finish();
        assert_eq!(OffersRequest::from_query(&query).as_ref(), Ok(&request));
    }
    DEMO.with(|demo| {
        for (id, app) in CATALOG.apps.iter().take(3) {
            answer(demo, &request, &listing_of(*id, app));
        }
    });
}

fn answer(demo: &DemoOffers, request: &OffersRequest, app: &AppListing) {
    let Selection { rows, total } = demo.selector.select(app, request);
    let expected: Vec<_> = CATALOG
        .offers
        .iter()
        .filter(|(id, offer)| {
            let shown = offer.os == app.platform || offer.os == Platform::Web;
            let passes = |filter| passes(filter, id.as_str(), offer);
            shown && !app.blocked.contains(id) && request.filters.iter().all(passes)
        })
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(usize::try_from(total).unwrap(), expected.len());
    let skipped = u64::from(request.page - 1) * u64::from(request.size);
    let skipped = usize::try_from(skipped).unwrap().min(expected.len());
    let on_page = &expected[skipped..];
    let on_page = &on_page[..on_page.len().min(usize::try_from(request.size).unwrap())];
    let listing = demo.selector.listing();
    let selected: Vec<_> = rows.iter().map(|row| listing.id(*row).unwrap()).collect();
    assert_eq!(selected, on_page);

    let mut page = Page::new(app, "https://track.example.com");
    for part in parts(listing, &rows) {
        let (_, chunk) = demo.chunks.iter().find(|(key, _)| key == part.key).unwrap();
        page.add(listing, part, chunk).unwrap();
    }
    let page: Value = serde_json::from_slice(&page.finish(total)).unwrap();
    let ids = page["offers"].as_array().unwrap().iter().map(|offer| &offer["id"]);
    assert!(ids.eq(on_page) && page["total"] == total);
}

fn passes(filter: &Filter, id: &str, offer: &Offer) -> bool {
    match filter {
        Filter::OfferType(values) => values.contains(&offer.off_type),
        Filter::Platform(values) => values.contains(&offer.os),
        Filter::Country(values) => values.iter().any(|country| {
            let included = offer.geo_tgt.include.is_empty() || offer.geo_tgt.include.contains(country);
            included && !offer.geo_tgt.exclude.contains(country)
        }),
        Filter::OfferId(values) => values.iter().any(|value| value.as_str() == id),
    }
}

fn written(filter: &Filter) -> Value {
    let (dim, values): (_, Vec<&str>) = match filter {
        Filter::OfferType(values) => ("offer_type", values.iter().map(|value| OfferType::as_str(*value)).collect()),
        Filter::Platform(values) => ("platform", values.iter().map(|value| Platform::as_str(*value)).collect()),
        Filter::Country(values) => ("country", values.iter().map(|value| Country::as_str(*value)).collect()),
        Filter::OfferId(values) => ("offer_id", values.iter().map(|value| value.as_str()).collect()),
    };
    assert!(values.len() <= MAX_VALUES && values.iter().is_sorted() | (dim != "offer_id"));
    json!({ "dim": dim, "match": { "type": "any", "value": values } })
}

/// The app whose pages are built where the rest of a request is damaged.
pub fn any_app() -> AppListing {
    let (id, app) = CATALOG.apps.first_key_value().unwrap();
    listing_of(AppId::from_number(id.number()).unwrap(), app)
}
