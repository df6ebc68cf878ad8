//! The page on which a click of a test app ends. The page's buttons send what an advertiser would send, and the page
//! shows the state of each goal. The page needs no script and shows no text from the click. Programs ask for JSON and
//! send the same form.

use std::fmt::Write;

use serde_json::{Value, json};
use worker::Request;

use crate::http::{
    HandlerResult, Refusal, RequestContext,
    calls::{internal, parameter},
    clicks::{click_outcome, record},
    limits::Pool,
    site::outboxes::SETTLE_TIMEOUT,
};
use contract::{
    operation::Bytes,
    outbox::{self, ClickReward, Conversion, Current, OutboxShard, Settle},
    rewards::RewardState,
};
use domain::{
    conversions::{
        state::{CONVERSION_WINDOW_CLOSED, Status},
        table::{Action, Event},
        terms::UNKNOWN_GOAL,
    },
    model::{AdvertiserId, ApiError, FieldError, common},
    offers::test_offers::{self, RESERVED, TestGoal, TestOffer},
    tracking::{Click, Nonce, OpenError, Opened, click_id},
};
use platform::{
    ObjectCall,
    concurrency_limit::Permit,
    http::{Answer, body, header},
};

const MAX_BODY: usize = 8 << 10;
const FORM: &str = "application/x-www-form-urlencoded";
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\"><rect width=\"64\" height=\"64\" rx=\"12\" \
    fill=\"#2f5d62\"/><path d=\"M18 33l10 10 18-22\" fill=\"none\" stroke=\"#fff\" stroke-width=\"6\"/></svg>\n";

const NO_CLICK_KEYS: ApiError =
    ApiError::new(503, "unavailable", "test clicks cannot be opened: CLICK_KEYS is not set at the origin");

const UNKNOWN_CLICK: ApiError = ApiError::new(404, "not_found", "click_id refers to no click of a test app");

domain::named_values! {
    /// The statuses that the page reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TestStatus {
        Approved = "approved",
        Pending = "pending",
        /// An approval that is held, as if it had come too fast.
        Held = "held",
        Rejected = "rejected",
        Reversed = "reversed",
    }
}

/// A click of a test app.
struct TestClick {
    id: String,
    click: Click<'static>,
    nonce: Nonce,
    offer: &'static TestOffer,
    _permit: Permit,
}

impl TestClick {
    /// # Errors
    /// The click id cannot be opened, or its app is not a test app.
    async fn open(context: &RequestContext, id: String) -> Result<Self, Refusal> {
        let keys = context.isolate.config.click_keys.as_ref().ok_or(NO_CLICK_KEYS)?;
        let opened = match click_id::open(keys, &id) {
            Ok(opened) if opened.app().is_test() => opened,
            Err(error @ OpenError::UnknownKey) => return Err(error.refusal().into()),
            _ => return Err(UNKNOWN_CLICK.into()),
        };
        let app = opened.app();
        let pool = context.isolate.pools.get(Pool::TestPages);
        let permit = pool.acquire(&app.to_string(), context.now_ms)?;
        let (click, nonce) = match opened {
            Opened::Whole { click, nonce } => (click, nonce),
            Opened::Short { shard, nonce, .. } => {
                let click = record(context, keys, app, shard, nonce).await?;
                (click.ok_or(CONVERSION_WINDOW_CLOSED)?, nonce)
            }
        };
        let offer = test_offers::find(&click.offer).ok_or(UNKNOWN_CLICK)?;
        Ok(Self { id, click, nonce, offer, _permit: permit })
    }

    fn outbox(&self) -> OutboxShard {
        OutboxShard::new(self.click.app, self.click.shard)
    }

    async fn rewards(&self, context: &RequestContext) -> Result<Vec<ClickReward>, Refusal> {
        let outcome = click_outcome(context, self.outbox(), self.nonce, Some(&self.click)).await?;
        Ok(outcome.rewards)
    }
}

/// `GET`: the goals of a click and their states.
pub async fn show(context: &RequestContext, request: &Request, query: &str) -> HandlerResult {
    let id = parameter(query, "click_id").ok_or_else(|| missing("click_id"))?;
    let click = TestClick::open(context, id).await?;
    let rewards = click.rewards(context).await?;
    if wants_page(request) {
        return Ok(page(&click, &rewards));
    }
    let goals = click.offer.goals.iter().map(|goal| {
        let reward = reward_of(goal, &rewards);
        json!({
            "goal_id": goal.id,
            "title": goal.title,
            "state": reward.map(|reward| reward.state),
            "transaction_id": reward.map(|reward| &reward.transaction_id),
        })
    });
    let goals: Vec<Value> = goals.collect();
    let body = json!({ "app_id": click.click.app, "offer_id": click.offer.id, "goals": goals });
    Ok(Answer::json(200, body.to_string()).header("Cache-Control", "no-store"))
}

/// `POST`: reports a status of a goal. A browser is redirected to the page, which shows the goal's state. A program
/// gets the same answer as a postback.
pub async fn report(context: &RequestContext, mut request: Request) -> HandlerResult {
    body::check_media_type(&request, &[FORM], false)?;
    let form = body::read_text(&mut request, MAX_BODY).await?;
    let id = parameter(&form, "click_id").ok_or_else(|| missing("click_id"))?;
    let status = parameter(&form, "status").ok_or_else(|| missing("status"))?;
    let status = TestStatus::parse(&status).ok_or_else(|| {
        let names = TestStatus::ALL.map(TestStatus::as_str).join(", ");
        ApiError::from(FieldError::new("status", format!("must be one of {names}")))
    })?;
    let click = TestClick::open(context, id).await?;
    let answered = convert(context, &click, parameter(&form, "goal"), status).await;
    if wants_page(&request) {
        return match answered {
            Err(refusal) if refusal.status() >= 500 => Err(refusal),
            _ => Ok(Answer::new(303).header("Location", format!("?click_id={}", click.id))),
        };
    }
    let body = serde_json::to_string(&answered?).map_err(|error| internal("test_page", error))?;
    Ok(Answer::json(200, body).header("Cache-Control", "no-store"))
}

/// The icon of the test offers.
pub fn icon() -> Answer {
    Answer::new(200).body("image/svg+xml", ICON).header("Cache-Control", "public, max-age=86400")
}

fn missing(name: &str) -> ApiError {
    common::MISSING_FIELD.with_message(format!("{name} is required"))
}

fn wants_page(request: &Request) -> bool {
    header(request, "Accept").is_some_and(|accept| accept.contains("text/html"))
}

fn reward_of<'r>(goal: &TestGoal, rewards: &'r [ClickReward]) -> Option<&'r ClickReward> {
    rewards.iter().find(|reward| reward.goal_id == goal.id)
}

/// Sends the conversion that an advertiser would report. To approve a held conversion, it settles the conversion as the
/// operator would, because nobody else can end a hold.
async fn convert(
    context: &RequestContext,
    click: &TestClick,
    goal: Option<String>,
    status: TestStatus,
) -> Result<outbox::Answer, Refusal> {
    let goals = click.offer.goals;
    let goal = match goal {
        Some(id) => goals.iter().find(|goal| goal.id == id),
        None => goals.first(),
    };
    let goal = goal.ok_or(UNKNOWN_GOAL)?;
    let address = click.outbox().address();
    let rewards = click.rewards(context).await?;
    let held = reward_of(goal, &rewards).filter(|reward| reward.state == RewardState::Held);
    if let (TestStatus::Approved, Some(reward)) = (status, held) {
        let settle = Settle {
            transaction_id: reward.transaction_id.clone(),
            action: Action::Approve,
            reason: "approved on the test page".into(),
            despite: Vec::new(),
        };
        return Ok(context.workers.call(&address, settle, SETTLE_TIMEOUT).await?);
    }
    let conversion = Conversion {
        nonce: Bytes(click.nonce.to_vec()),
        click: click.click.clone(),
        advertiser: AdvertiserId::parse(RESERVED),
        goal: Some(goal.id.to_owned()),
        txn: None,
        event: Event::Postback(match status {
            TestStatus::Approved | TestStatus::Held => Status::Approved,
            TestStatus::Pending => Status::Pending,
            TestStatus::Rejected => Status::Rejected,
            TestStatus::Reversed => Status::Reversed,
        }),
        reason: None,
        despite: Vec::new(),
        current: Current { offer: Some(click.offer.current()), app: None, is_recent: true },
        received_ms: None,
        is_to_be_held: click.offer.is_held || status == TestStatus::Held && !click.offer.is_capped,
    };
    Ok(context.workers.call(&address, Box::new(conversion), SETTLE_TIMEOUT).await?)
}

fn page(click: &TestClick, rewards: &[ClickReward]) -> Answer {
    let mut goals = String::new();
    for goal in click.offer.goals {
        let state = match reward_of(goal, rewards).map(|reward| reward.state) {
            None => "Nothing reported yet.",
            Some(RewardState::Approved) => "Approved: the reward was paid.",
            Some(RewardState::Pending) => "Pending: a reward may be paid later.",
            Some(RewardState::Held) => "Held: a reward waits for the operator. Approve it to pay it.",
            Some(RewardState::Rejected) => "Rejected: no reward is paid.",
            Some(RewardState::Reversed) => "Reversed: the reward was taken back.",
            Some(RewardState::Refused) => {
                "Refused: no reward is paid, because the cap of this offer is spent or the click is too old."
            }
        };
        // Writing to a String cannot fail.
        let _ = write!(
            goals,
            "<form method=\"post\"><h2>{}</h2><p role=\"status\">{state}</p>\
             <input type=\"hidden\" name=\"click_id\" value=\"{}\"><input type=\"hidden\" name=\"goal\" value=\"{}\">",
            goal.title, click.id, goal.id
        );
        for reported in TestStatus::ALL.map(TestStatus::as_str) {
            let _ = write!(
                goals,
                "<button name=\"status\" value=\"{reported}\" aria-label=\"Report {reported}: {}\">Report {reported}</button> ",
                goal.title
            );
        }
        goals.push_str("</form>");
    }
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{name}</title><style>{STYLE}</style><body><main><p class=\"from\">Signpost test page</p><h1>{name}</h1>\
         <p>You clicked this offer in the test app {app}. For each goal, report what an advertiser would report. \
         The callback follows at once, marked as a test, if the app is set up for that event. To see the result, \
         choose this app under Rewards in the dashboard. A report that no longer applies changes nothing.</p>\
         {goals}</main></body></html>\n",
        name = click.offer.name,
        app = click.click.app,
    );
    Answer::new(200)
        .body("text/html; charset=utf-8", page)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
        .header("X-Content-Type-Options", "nosniff")
        .header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
        )
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
    main{max-width:52rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}\
    p{margin:0}main>p{max-width:42rem}.from{font-size:.875rem;opacity:.75}form{display:grid;gap:.5rem;\
    grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));border-top:1px solid #8888;margin-top:1.5rem;\
    padding-top:1rem}h2{font-size:1.125rem;margin:0}form>:is(h2,p){grid-column:1/-1}form>p{margin-bottom:.25rem}\
    button{font:inherit;min-height:2.75rem;padding:0 .5rem;border:1px solid #888;border-radius:.375rem;\
    background:Canvas;color:CanvasText;cursor:pointer}button:hover{border-color:CanvasText}";
