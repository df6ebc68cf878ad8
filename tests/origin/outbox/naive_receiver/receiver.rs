//! The receiver, and the settings that it has chosen. It sees a request's URL and body, and knows where in its URL it put
//! which macro.

use super::*;

/// A macro in a URL: its field, the parameter that has it or `None` for a segment of the path, and the texts around it.
#[derive(Clone, Debug)]
pub struct Place {
    pub field: &'static str,
    pub parameter: Option<String>,
    pub around: (&'static str, &'static str),
    pub spelling: &'static str,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The macros of the URL, those of the path in its order. Without any, every field is sent.
    pub places: Vec<Place>,
    pub method: CallbackMethod,
    pub events: Option<Vec<Told>>,
    pub has_md5: bool,
}

impl Settings {
    fn app(&self) -> App {
        let (mut path, mut query) = (String::new(), "key=1".to_owned());
        for Place { field, parameter, around: (before, after), spelling } in &self.places {
            let text = spelling.replace('X', &field.to_uppercase()).replace('x', field);
            match parameter {
                None => path += &format!("/{before}{text}{after}"),
                Some(name) => query += &format!("&{name}={before}{text}{after}"),
            }
        }
        serde_json::from_value(serde_json::json!({
            "publisher_id": "acme", "name": "Game", "platform": "android",
            "currency": { "name": "Coins", "per_usd": 100, "decimals": 2, "rounding": "down" },
            "callback": {
                "url": format!("https://r.example/cb{path}?{query}"), "method": self.method, "events": self.events,
                "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "legacy_md5": self.has_md5.then(|| serde_json::json!({ "secret": "old" })),
            },
        }))
        .unwrap()
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::parse(&self.app().callback.unwrap()).unwrap()
    }

    /// The problem for which saving refuses them.
    pub fn problem(&self) -> Option<String> {
        self.app().check().err().map(|error| error.problem)
    }

    pub fn is_told_of(&self, status: Told) -> bool {
        let default = [Told::Approved, Told::Reversed];
        self.events.as_deref().unwrap_or(&default).contains(&status)
    }

    /// Whether the receiver reads this field. With the legacy signature, `token` is the transaction id.
    pub fn has(&self, field: &str) -> bool {
        let is_named = self.places.iter().any(|place| place.field == field);
        self.places.is_empty() || is_named || (self.has_md5 && field == "transaction_id")
    }
}

/// The rewards, coins and micro-USD of each user, by the user's id. What the receiver does not read is empty, or 0.
pub type Ledger = BTreeMap<String, [i64; 3]>;

pub fn add(ledger: &mut Ledger, user: &str, more: [i64; 3]) {
    let balance = ledger.entry(user.to_owned()).or_default();
    *balance = [0, 1, 2].map(|number| balance[number] + more[number]);
    ledger.retain(|_, balance| *balance != [0; 3]);
}

/// How a receiver recognises a repeat. The last two are what is left without a transaction id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    ByTransaction,
    ByContent,
    Never,
}

pub struct Receiver {
    pub settings: Settings,
    pub repeats: Repeats,
    received: BTreeSet<String>,
    /// Rewards that were taken back before they came.
    taken_back: BTreeSet<String>,
    pub ledger: Ledger,
}

impl Receiver {
    pub fn new(settings: &Settings, repeats: Repeats) -> Self {
        Self {
            settings: settings.clone(),
            repeats,
            received: BTreeSet::new(),
            taken_back: BTreeSet::new(),
            ledger: Ledger::new(),
        }
    }

    /// The fields of a request that are not empty.
    fn read(&self, request: &Request) -> BTreeMap<String, String> {
        let mut read = BTreeMap::new();
        if let Some(body) = &request.body {
            let members: BTreeMap<String, Json> = serde_json::from_str(body).unwrap();
            let text = |value: &Json| value.as_str().map_or(value.to_string(), str::to_owned);
            read.extend(members.iter().map(|(name, value)| (name.clone(), text(value))));
            return read;
        }
        let (path, query) = request.url.split_once('?').unwrap();
        let decode = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
        let parameters: BTreeMap<_, _> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        if self.settings.places.is_empty() {
            read.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), decode(value))));
        }
        // After `https://r.example/cb/`.
        let mut segments = path.split('/').skip(4);
        for Place { field, parameter, around: (before, after), .. } in &self.settings.places {
            let value = parameter.as_ref().map(|name| parameters[name.as_str()]);
            let value = decode(value.unwrap_or_else(|| segments.next().unwrap()));
            let value = value.strip_prefix(before).unwrap().strip_suffix(after).unwrap();
            read.insert((*field).to_owned(), value.to_owned());
        }
        if self.settings.has_md5 {
            read.insert("transaction_id".into(), parameters["token"].to_owned());
        }
        read.retain(|_, value| !value.is_empty());
        read
    }

    pub fn receive(&mut self, request: &Request) {
        let read = self.read(request);
        let id = match self.repeats {
            Repeats::ByTransaction => read["transaction_id"].clone(),
            Repeats::ByContent => format!("{:?}", read.iter().filter(|(name, _)| *name != "ts").collect::<Vec<_>>()),
            Repeats::Never => self.received.len().to_string(),
        };
        if !self.received.insert(id.clone()) {
            return;
        }
        let amounts = ["value", "payout"].map(|name| read.get(name).map(|text| millionths(text)));
        let sign = amounts.into_iter().flatten().map(i64::signum).find(|sign| *sign != 0);
        let rewards = match read.get("status").map(String::as_str) {
            Some("approved") => 1,
            Some("reversed") => -1,
            Some(_) => 0,
            None if amounts == [None; 2] => 1,
            None => sign.unwrap_or(0),
        };
        let original = read.get("original_transaction_id").filter(|_| rewards < 0);
        // A receiver that is not told of rewards pays them by other means, so it counts as having all of them.
        let is_unknown = |id: &&String| self.settings.is_told_of(Told::Approved) && !self.received.contains(*id);
        if let Some(original) = original.filter(is_unknown) {
            self.taken_back.insert(original.clone());
        } else if !self.taken_back.contains(&id) {
            let [value, payout] = amounts.map(Option::unwrap_or_default);
            let user = read.get("user_id").map_or("", String::as_str);
            add(&mut self.ledger, user, [rewards, value, payout]);
        }
    }
}

/// A decimal number in millionths.
pub fn millionths(text: &str) -> i64 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    sign * format!("{whole}{decimals:0<6}").parse::<i64>().unwrap()
}
