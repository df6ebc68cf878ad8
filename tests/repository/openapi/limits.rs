//! The closed lists and the limits of the documents are those of the code.

use std::collections::BTreeSet;

use serde_json::json;

use super::texts;
use crate::document::{dashboard_document, document, schema};
use domain::{
    accounts::{account::AccountKind, challenge, role::Role, webauthn::Algorithm},
    conversions::state::{Reason, Status},
    model::{Category, Country, OfferType, Platform},
    offers::request as offers,
    reporting::{Dimension, Metric, query},
};

#[test]
fn closed_lists_and_limits_are_those_of_the_code() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let owned = |texts: Vec<&'static str>| texts.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    let lists = [
        ("OfferType", owned(OfferType::ALL.iter().map(|of| of.as_str()).collect())),
        ("Platform", owned(Platform::ALL.iter().map(|of| of.as_str()).collect())),
        ("Category", owned(Category::ALL.iter().map(|of| of.as_str()).collect())),
        ("Country", owned(Country::all().map(Country::as_str).collect())),
        ("Dimension", owned(Dimension::ALL.iter().map(|of| of.as_str()).collect())),
        ("Metric", owned(Metric::ALL.iter().map(|of| of.as_str()).collect())),
        ("PostbackStatus", owned(Status::ALL.iter().map(|of| of.as_str()).collect())),
    ];
    for (name, list) in lists {
        assert_eq!(texts(&schemas[name]["enum"]), list, "{name}");
    }
    let roles = Role::ALL.iter().filter(|role| role.kind() == AccountKind::Publisher);
    let roles = owned(roles.map(|role| role.as_str()).collect());
    assert_eq!(texts(&schemas["AccountRole"]["enum"]), roles);
    let refusals = owned(Reason::ALL.map(|reason| reason.refusal().code).to_vec());
    assert_eq!(texts(&schemas["ReasonCode"]["enum"]), refusals);

    let limits = [
        ("/OffersRequest/properties/size/maximum", u64::from(offers::MAX_SIZE)),
        ("/OffersFilters/maxItems", offers::MAX_FILTERS as u64),
        ("/CountryMatch/properties/value/maxItems", offers::MAX_VALUES as u64),
        ("/OfferIdMatch/properties/values/maxItems", offers::MAX_VALUES as u64),
        ("/ReportQuery/properties/filters/maxItems", query::MAX_FILTERS as u64),
        ("/ReportQuery/properties/order_by/maxItems", query::MAX_ORDER as u64),
        ("/ReportQuery/properties/pagination/properties/page/maximum", query::MAX_PAGE),
        ("/ReportQuery/properties/pagination/properties/count/maximum", u64::from(query::MAX_COUNT)),
        ("/ReportQuery/properties/pagination/properties/count/default", u64::from(query::DEFAULT_COUNT)),
    ];
    for (place, limit) in limits {
        assert_eq!(schemas.pointer(place), Some(&json!(limit)), "{place}");
    }

    let dashboard = dashboard_document();
    let schemas = &dashboard["components"]["schemas"];
    let algorithms = Algorithm::ALL.map(Algorithm::cose);
    assert_eq!(schemas["Algorithm"]["enum"], json!(algorithms));
    assert_eq!(schemas["CeremonyTimeout"]["const"], json!(challenge::LIFE_MS));
    let longest = json!(domain::accounts::member::MAX_NAME);
    for name in ["MemberName", "PersonName"] {
        assert_eq!(schemas[name]["maxLength"], longest, "{name}");
    }
}

#[test]
fn a_member_may_have_the_names_that_the_document_allows() {
    let name = schema(&document(), "/components/schemas/MemberName");
    let all = (0..=0xFFFF).filter_map(char::from_u32);
    // A schema cannot describe HTML.
    for character in all.filter(|character| !"<&".contains(*character)) {
        for text in [character.to_string(), format!("A{character}B")] {
            let is_taken = domain::accounts::member::parse_name("name", &text).is_ok();
            assert_eq!(name.is_valid(&json!(text)), is_taken, "{text:?}");
        }
    }
    assert!(!name.is_valid(&json!("a".repeat(65))));
}
