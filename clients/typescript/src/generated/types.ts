// The types of Signpost's API, from `openapi.yaml`. Do not edit: `make client-types` writes this file.

/** A number without a fraction. */
export type Integer = number;

/** `exact` takes one value. */
export type MatchType = "any" | "exact";

export type OfferType = "CPR" | "CPI" | "CPL" | "CPC" | "CPE" | "CPA" | "APK_INSTALL" | "APK_REGISTER";

/** An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent. */
export type OfferTypeMatch = {
    type: MatchType;
    value?: OfferType[];
    values?: OfferType[];
};

export type OfferTypeFilter = {
    dim: "offer_type";
    match: OfferTypeMatch;
};

export type Platform = "ios" | "android" | "web";

/** An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent. */
export type PlatformMatch = {
    type: MatchType;
    value?: Platform[];
    values?: Platform[];
};

export type PlatformFilter = {
    dim: "platform";
    match: PlatformMatch;
};

/** ISO 3166-1 alpha-2, and `XK` for Kosovo. Lower case is read, too. */
export type Country = "AD" | "AE" | "AF" | "AG" | "AI" | "AL" | "AM" | "AO" | "AQ" | "AR" | "AS" | "AT" | "AU" | "AW" | "AX" | "AZ" | "BA" | "BB" | "BD" | "BE" | "BF" | "BG" | "BH" | "BI" | "BJ" | "BL" | "BM" | "BN" | "BO" | "BQ" | "BR" | "BS" | "BT" | "BV" | "BW" | "BY" | "BZ" | "CA" | "CC" | "CD" | "CF" | "CG" | "CH" | "CI" | "CK" | "CL" | "CM" | "CN" | "CO" | "CR" | "CU" | "CV" | "CW" | "CX" | "CY" | "CZ" | "DE" | "DJ" | "DK" | "DM" | "DO" | "DZ" | "EC" | "EE" | "EG" | "EH" | "ER" | "ES" | "ET" | "FI" | "FJ" | "FK" | "FM" | "FO" | "FR" | "GA" | "GB" | "GD" | "GE" | "GF" | "GG" | "GH" | "GI" | "GL" | "GM" | "GN" | "GP" | "GQ" | "GR" | "GS" | "GT" | "GU" | "GW" | "GY" | "HK" | "HM" | "HN" | "HR" | "HT" | "HU" | "ID" | "IE" | "IL" | "IM" | "IN" | "IO" | "IQ" | "IR" | "IS" | "IT" | "JE" | "JM" | "JO" | "JP" | "KE" | "KG" | "KH" | "KI" | "KM" | "KN" | "KP" | "KR" | "KW" | "KY" | "KZ" | "LA" | "LB" | "LC" | "LI" | "LK" | "LR" | "LS" | "LT" | "LU" | "LV" | "LY" | "MA" | "MC" | "MD" | "ME" | "MF" | "MG" | "MH" | "MK" | "ML" | "MM" | "MN" | "MO" | "MP" | "MQ" | "MR" | "MS" | "MT" | "MU" | "MV" | "MW" | "MX" | "MY" | "MZ" | "NA" | "NC" | "NE" | "NF" | "NG" | "NI" | "NO" | "NL" | "NP" | "NR" | "NU" | "NZ" | "OM" | "PA" | "PE" | "PF" | "PG" | "PH" | "PK" | "PL" | "PM" | "PN" | "PR" | "PS" | "PT" | "PW" | "PY" | "QA" | "RE" | "RO" | "RS" | "RU" | "RW" | "SA" | "SB" | "SC" | "SD" | "SE" | "SG" | "SH" | "SI" | "SJ" | "SK" | "SL" | "SM" | "SN" | "SO" | "SR" | "SS" | "ST" | "SV" | "SX" | "SY" | "SZ" | "TC" | "TD" | "TF" | "TG" | "TH" | "TJ" | "TK" | "TL" | "TM" | "TN" | "TO" | "TR" | "TT" | "TV" | "TW" | "TZ" | "UA" | "UG" | "UM" | "US" | "UY" | "UZ" | "VA" | "VC" | "VE" | "VG" | "VI" | "VN" | "VU" | "WF" | "WS" | "YE" | "YT" | "ZA" | "ZM" | "ZW" | "XK";

/** An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent. */
export type CountryMatch = {
    type: MatchType;
    value?: Country[];
    values?: Country[];
};

export type CountryFilter = {
    dim: "country";
    match: CountryMatch;
};

/** An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent. */
export type OfferIdMatch = {
    type: MatchType;
    value?: string[];
    values?: string[];
};

export type OfferIdFilter = {
    dim: "offer_id";
    match: OfferIdMatch;
};

export type OffersFilter = OfferTypeFilter | PlatformFilter | CountryFilter | OfferIdFilter;

export type Id = string;

/** UNIX seconds. */
export type Seconds = Integer;

export type Usd = {
    cur: "USD";
    amt: number;
};

/** In the app's own currency. */
export type InApp = {
    cur: string;
    amt: number;
};

export type Category = "SINGLE_STEP" | "MULTI_REWARD" | "DEPOSIT" | "GAMING" | "FINANCE" | "SURVEY" | "NEW";

export type ListedGoal = {
    /** The `rid` of a tracking URL. */
    id: Id;
    /** The advertiser's event code. */
    gl_val: string | null;
    ttl: string;
    /** Numbered steps by line. */
    instr: string;
    pyt: Usd;
    inapp_pyt: InApp;
    ord: Integer;
};

export type ListedTargeting = {
    /** Empty is everywhere. */
    include: Country[];
    exclude: Country[];
};

export type CapLeft = {
    dur: "DAILY";
    /** Left until 00:00 UTC. */
    lim: Integer;
};

export type ListedOffer = {
    id: Id;
    /** When it last changed, UNIX seconds. */
    upd_ts: Seconds;
    off_type: OfferType;
    /** The app that it promotes. */
    s_id: string;
    name: string;
    /** The landing page, usually of a store. */
    lp_url: string;
    /** The sum of its goals. */
    pyt: Usd;
    inapp_pyt: InApp;
    crtvs: {
        ic_url: string;
    };
    desc: {
        raw: string;
    };
    ctg: Category[];
    gls: ListedGoal[];
    /** Replace its placeholders before use. It ends in `&sig={sig}` if the app has a `click_secret`. */
    trk_url: string;
    /** Append `user_id` and the other click parameters. */
    trk_url_base: string;
    geo_tgt: ListedTargeting;
    os: Platform;
    /** Of the last 30 days; absent without clicks. */
    metrics?: {
        m_type: "GLOBAL";
        /** Conversions for each click. */
        cr: number;
        /** USD for each click. */
        epc: number;
    }[];
    conversion_cap?: CapLeft;
    click_cap?: CapLeft;
};

export type OffersPage = {
    offers: ListedOffer[];
    /** Offers on all pages. */
    total: Integer;
};

export type Day = string;

export type Dimension = "date" | "app" | "country" | "placement_id" | "ad_tag" | "demand_source" | "sdk_v";

export type Metric = "ad_requests" | "ad_responses" | "impressions" | "clicks" | "revenue" | "ecpm" | "fill_rate" | "show_rate" | "click_rate";

/** `ad_tag`, as a dimension, filter or order, does not go with ad_requests, ad_responses, fill_rate or show_rate. Other members at this level are ignored. */
export type ReportQuery = {
    /** Both days are included; the end is not before the start, and at most 90 days after it. */
    date_range: {
        start_date: Day;
        end_date: Day;
    };
    dimensions: Dimension[];
    metrics: Metric[];
    /** A fact passes them all; of each, one of the values. */
    filters?: {
        dimension: Dimension;
        values: (string | number)[];
    }[] | null;
    /** Without it by date, else by the first metric, descending. */
    order_by?: {
        /** Any metric or a requested dimension. */
        column: Dimension | Metric;
        ascending: boolean;
    }[] | null;
    pagination?: {
        page?: Integer;
        /** Rows on a page. */
        count?: Integer;
    } | null;
};

/** 8 digits; leading zeros are part of it. */
export type AppId = string;

/** The requested dimensions and metrics. A metric that is 0 is left out. */
export type ReportRow = {
    date?: Day;
    app_id?: AppId;
    app?: {
        name: string;
    };
    /** `ZZ` where it is not known. */
    country?: string;
    placement_id?: string;
    ad_tag?: string;
    demand_source?: string;
    sdk_v?: string;
    ad_requests?: Integer;
    ad_responses?: Integer;
    impressions?: Integer;
    clicks?: Integer;
    /** USD; reversals may make it negative. */
    revenue?: number;
    /** USD for 1000 impressions. */
    ecpm?: number;
    /** ad_responses / ad_requests */
    fill_rate?: number;
    /** impressions / ad_responses */
    show_rate?: number;
    /** clicks / impressions */
    click_rate?: number;
};

export type Report = {
    rows: ReportRow[];
};

/** What the app has on the day. The same before and after, where only other dimensions changed. */
export type ChangedSums = {
    ad_requests: Integer;
    ad_responses: Integer;
    impressions: Integer;
    clicks: Integer;
    /** In USD. */
    revenue: number;
};

export type DayChange = {
    date: Day;
    app_id: AppId;
    /** The operator replaced or added facts; clicks or rewards came late; the operator restated the day from its sources; the stored facts were put back to an earlier copy. */
    cause: "facts_replaced" | "facts_added" | "late_batch" | "restated" | "restored";
    /** When it changed last. */
    changed_ts: Integer;
    author: "operator" | "signpost";
    before: ChangedSums;
    after: ChangedSums;
};

export type DayChanges = {
    changes: DayChange[];
    /** For `after` of the next question. */
    cursor: string;
    /** Whether there is more to read at once. */
    has_more: boolean;
    /** As `X-Final-Through` of reports. */
    final_through: Day | null;
};

/** A reward's identity, in the form of a UUID. That of a test app begins with `test-`. */
export type TransactionId = string;

/** `held` waits for the operator. `refused` was not paid for the reason in `code`. */
export type RewardState = "pending" | "approved" | "rejected" | "reversed" | "held" | "refused";

export type RewardClick = {
    country: string | null;
    placement: string | null;
    gaid: string | null;
    idfa: string | null;
    c1: string | null;
    c2: string | null;
    c3: string | null;
    c4: string | null;
    c5: string | null;
};

export type RewardTerms = {
    /** A revision of the offer's terms. */
    offer_at_click: Integer;
    /** A revision of the app's terms. */
    app_at_click: Integer;
    /** The revision that pays. */
    offer_paying: Integer;
    /** Whether it was paid by terms that newer ones had superseded. */
    is_superseded: boolean;
};

export type ChangedReward = {
    /** When it changed last. */
    changed_ts: Integer;
    app_id: AppId;
    /** The same in every state. */
    transaction_id: TransactionId;
    state: RewardState;
    offer_id: string;
    goal_id: string;
    /** In the app's currency, also while it is not paid. */
    value: number;
    /** In USD. */
    payout: number;
    currency: string;
    click_ts: Integer;
    /** When its first postback came. */
    received_ts: Integer;
    /** When it was paid or reached its state. */
    conversion_ts: Integer;
    /** Why it is held or was refused. */
    code: string | null;
    /** The words of the advertiser or of the operator. */
    reason: string | null;
    /** Null of an erased user. */
    user_id: string | null;
    is_erased: boolean;
    goal_value: string | null;
    /** The sender's own id of it. */
    txn: string | null;
    click: RewardClick;
    terms: RewardTerms;
};

export type ChangedRewards = {
    rewards: ChangedReward[];
    /** For `after` of the next question. */
    cursor: string;
    /** Whether there is more to read at once. */
    has_more: boolean;
};

export type PostbackStatus = "approved" | "pending" | "rejected" | "reversed";

export type Conversion = {
    transaction_id: TransactionId;
    /** As it stands now. */
    status: "approved" | "pending" | "rejected" | "reversed";
    /** It was known already and nothing changed. */
    duplicate: boolean;
};

/** The fields that every event may have. An absent field is left out. */
export type CallbackFields = {
    /** The user who clicked. */
    user_id: string;
    /** The reward in the app's currency: above or equal to 0 for `approved`, its exact negative for `reversed`, 0 for `pending` and `rejected`. */
    value: number;
    /** The same in USD, with at most 6 decimals. */
    payout: number;
    /** The name of the app's currency. */
    currency: string;
    /** The identity of this event, the same on every attempt. Pay each once. That of a test begins with `test-`. */
    transaction_id: string;
    /** The offer that was clicked. */
    offer_id: string;
    /** The goal that was reached. */
    goal_id: string;
    /** The goal's `gl_val`; left out where it has none. */
    goal_value?: string;
    /** The app in which the user clicked. */
    app_id: string;
    /** The advertising identifier of Android, as at the click; left out where the click had none. */
    gaid?: string;
    /** The advertising identifier of iOS, as at the click; left out where the click had none. */
    idfa?: string;
    /** The publisher's own parameter `c1`, as at the click; left out where the click had none. */
    c1?: string;
    /** The publisher's own parameter `c2`, as at the click; left out where the click had none. */
    c2?: string;
    /** The publisher's own parameter `c3`, as at the click; left out where the click had none. */
    c3?: string;
    /** The publisher's own parameter `c4`, as at the click; left out where the click had none. */
    c4?: string;
    /** The publisher's own parameter `c5`, as at the click; left out where the click had none. */
    c5?: string;
    /** The user's country at the click, ISO 3166-1 alpha-2 or `XK`; left out where it is not known. */
    country?: string;
    /** The time of the click, UNIX seconds. */
    click_ts: Integer;
    /** The time at which Signpost recorded the event, UNIX seconds. */
    conversion_ts: Integer;
    /** Why, in the words of the advertiser or of the operator; left out if they gave none. */
    reason?: string;
    /** The transaction id again. Sent with `legacy_md5` alone. */
    token?: string;
    /** Lower-case hexadecimal MD5 of `secret.user_id.int(value).token`. Sent with `legacy_md5` alone. */
    signature?: string;
};

/** The user has earned the reward. */
export type ApprovedEvent = CallbackFields & {
    status: "approved";
} & {
    status: "approved";
};

/** A reward is taken back. */
export type ReversedEvent = CallbackFields & {
    status: "reversed";
    /** The id of the reward that the event is about. Sent with every status but `approved`. */
    original_transaction_id: string;
} & {
    status: "reversed";
};

/** A conversion waits, and nothing is paid yet. */
export type PendingEvent = CallbackFields & {
    status: "pending";
    /** The id of the reward that the event is about. Sent with every status but `approved`. */
    original_transaction_id: string;
    /** The reward that is not paid, in the app's currency. Sent with `pending` and `rejected` alone. */
    pending_value: number;
} & {
    status: "pending";
};

/** A conversion will not be paid. */
export type RejectedEvent = CallbackFields & {
    status: "rejected";
    /** The id of the reward that the event is about. Sent with every status but `approved`. */
    original_transaction_id: string;
    /** The reward that is not paid, in the app's currency. Sent with `pending` and `rejected` alone. */
    pending_value: number;
} & {
    status: "rejected";
};

export type CallbackEvent = ApprovedEvent | ReversedEvent | PendingEvent | RejectedEvent;
