//! Explains answers to postbacks, and how to fix their causes, to people in ad operations.

use super::state::{Reason, Status};

/// The code of the answer to a repeated postback, which changed nothing.
pub const DUPLICATE: &str = "duplicate";

/// The code of a 200: its `status`, or [`DUPLICATE`].
pub fn taken_code(status: Status, is_duplicate: bool) -> &'static str {
    if is_duplicate { DUPLICATE } else { status.as_str() }
}

/// The explanation of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The outcome, in one sentence.
    pub verdict: &'static str,
    /// The action that fixes the cause.
    pub remedy: &'static str,
}

/// The explanation of a code. Every code of an answer to a postback has one.
pub fn of_code(code: &str) -> Explanation {
    let found = VERDICTS.iter().find(|(known, ..)| *known == code);
    found.map_or(UNKNOWN, |&(_, verdict, remedy)| Explanation { verdict, remedy })
}

/// True if a code has its own explanation.
pub fn is_known(code: &str) -> bool {
    VERDICTS.iter().any(|(known, ..)| *known == code)
}

/// The explanation of a held conversion, whose sender is told that it is pending.
pub fn of_held(reason: Reason) -> Explanation {
    of_code(reason.code())
}

const UNKNOWN: Explanation = Explanation {
    verdict: "The postback was answered with a code that has no explanation here.",
    remedy: "Look the code up in the description of the API.",
};

const NOTHING: &str = "No action is needed.";

/// Each code with its verdict and its remedy.
const VERDICTS: &[(&str, &str, &str)] = &[
    ("approved", "The conversion is approved, and the user is rewarded.", NOTHING),
    (
        "pending",
        "The conversion is recorded and pays nothing yet: the advertiser reported it as pending, or a limit of the offer or the app holds it.",
        "If the advertiser reported it as pending, it sends the same postback again with status=approved. If it is held, approve or reject it in the app's conversions.",
    ),
    (
        "rejected",
        "The conversion is rejected: it was never paid, and cannot be paid any more.",
        "If that is a mistake, the advertiser must report another click: a rejected conversion is final.",
    ),
    (
        "reversed",
        "The conversion is reversed: a reward that was paid is taken back, and one that was not paid never will be.",
        "If that is a mistake, the advertiser must report another click: a reversed conversion is final.",
    ),
    (
        DUPLICATE,
        "This click has reached this goal before, so the postback changed nothing. The first one counts.",
        "No action is needed if the sender repeats its postbacks. To report another event, it must name another goal.",
    ),
    (
        "missing_field",
        "The click id or the token is missing, empty, or an unreplaced macro, such as {click_id}, [CLICK_ID], %click_id% or __CLICK_ID__.",
        "Check the URL in the advertiser's tracking system: each macro must be one that the system fills in, and token must be the advertiser's token itself.",
    ),
    (
        "invalid_parameter",
        "A parameter cannot be read: it is badly encoded, too long, or sent with two different values. Or status is not approved, pending, rejected or reversed, but for example an unreplaced macro.",
        "Compare the parameters with the message. Write a literal percent sign as %25, and send each parameter once. Without status the conversion is approved.",
    ),
    (
        "invalid_click_id",
        "Signpost did not issue this click id, the id was changed in transit, or its app or offer does not exist.",
        "The sender must return the click id exactly as in the landing URL: not shortened, not in another letter case, and not an id of its own system.",
    ),
    (
        "unknown_goal",
        "The clicked offer has no goal with this id or event code. An unreplaced macro, such as {goal}, or a word such as null is not a goal. Letter case is ignored only if exactly one goal then matches.",
        "Give this event code to the offer's goal, or have the sender name a goal of the offer. To have the first goal paid, the sender omits goal or leaves it empty.",
    ),
    (
        "invalid_token",
        "The token is not valid: it was revoked or replaced, it is cut short, or it belongs to another advertiser than the offer.",
        "Give the advertiser's current token to the person who set up the postback. The two newest tokens of an advertiser are valid; issue one if it has none.",
    ),
    (
        "test_click",
        "The click belongs to a test app, so no postback converts it.",
        "Open the click's test page and report there, or send the postback for a click of another app.",
    ),
    (
        "conversion_capped",
        "The offer has reached its conversion cap for this UTC day, so the conversion is not paid.",
        "Raise the cap and have the postback sent again, or approve the conversion in the app's conversions. The cap is free again at 00:00 UTC.",
    ),
    (
        "duplicate_txn",
        "The sender has used this txn for another click of the same goal.",
        "The sender must give each conversion its own txn, or none. A txn must not be a constant or the id of a user.",
    ),
    (
        "already_rewarded",
        "The user was rewarded for this goal by another click, and the offer pays a goal once for each user.",
        "No action is needed, unless the offer should pay each click: then set its once_per to click.",
    ),
    (
        "after_restore",
        "The app's outbox was restored to an earlier state, and its record of payments for clicks from that time is lost, so the conversion is held. The sender is told that it is pending.",
        "Look the click up in the publisher's records. If it was paid, reject it in the app's conversions; otherwise approve it. After 72 hours it is checked again.",
    ),
    (
        "suspended",
        "The publisher of the app is suspended, so the conversion is held. The sender is told that it is pending.",
        "No action is needed: it is checked again when the publisher is approved again. To pay it earlier, approve it in the app's conversions.",
    ),
    (
        "too_fast",
        "The conversion came sooner after its click than the offer allows, so it is held. The sender is told that it is pending.",
        "Approve or reject it in the app's conversions. If honest users are that fast, lower the offer's min_seconds_to_convert.",
    ),
    (
        "too_many_today",
        "The user has as many rewards on this UTC day as the app allows, so the conversion is held. The sender is told that it is pending.",
        "Approve or reject it in the app's conversions. If honest users earn that much, raise the app's max_rewards_per_user_day.",
    ),
    (
        "conversion_window_closed",
        "The click is older than the offer's conversion window, so the conversion is not paid.",
        "Approve it in the app's conversions if it is there, or lengthen the offer's conversion_window_days for later clicks. The sender must report conversions when they happen.",
    ),
    (
        "unavailable",
        "A part of Signpost that the postback needs did not answer. Nothing was decided.",
        "The sender must send the postback again later, as after every 503. If this continues, check the health of the service.",
    ),
    (
        "internal_error",
        "Signpost failed to answer the postback. It may or may not have been counted.",
        "The sender must send the postback again; it is never counted twice. The log has the cause.",
    ),
    (
        "payload_too_large",
        "The form in the body is larger than 16 KiB.",
        "The sender must omit parameters that Signpost does not read, or put all parameters into the URL.",
    ),
    (
        "unsupported_media_type",
        "The body is not a form, and the URL lacks the click id or the token. A body in another form, such as JSON, is ignored only if the URL has both.",
        "The sender must put all parameters into the URL, or send them as a form with the Content-Type application/x-www-form-urlencoded. JSON is not read.",
    ),
    (
        "not_found",
        "This is not the URL for postbacks, so a request to it is not a conversion.",
        "Postbacks go to /v2/tracking/conversion on the tracking host. A URL with /v2/tracking/click is a link for users.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_status_and_every_reason_has_words() {
        let statuses = Status::ALL.map(Status::as_str);
        let reasons = Reason::ALL.map(Reason::code);
        for code in statuses.into_iter().chain(reasons).chain([DUPLICATE]) {
            assert!(is_known(code), "{code}");
        }
        assert_eq!(of_held(Reason::TooFast), of_code("too_fast"));
        assert_eq!(of_code("no such code"), UNKNOWN);
    }

    #[test]
    fn each_code_has_two_sentences_of_its_own() {
        let mut seen = HashSet::new();
        for (code, verdict, remedy) in VERDICTS {
            assert!(seen.insert(*code), "{code} twice");
            assert!(seen.insert(*verdict), "{code}");
            for text in [verdict, remedy] {
                assert!(text.len() > 15 && text.ends_with('.'), "{code}: {text}");
            }
        }
    }

    #[test]
    fn a_200_has_the_code_of_its_status_unless_it_is_a_repeat() {
        for status in Status::ALL {
            assert_eq!(taken_code(status, false), status.as_str());
            assert_eq!(taken_code(status, true), DUPLICATE);
        }
    }
}
