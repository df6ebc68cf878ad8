"""The types of Signpost's API, from `openapi.yaml`. Do not edit: `make client-types` writes this file."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    # Python 3.10 has no NotRequired, and type checkers bring this module with them.
    from typing_extensions import NotRequired

Number = Union[int, Decimal]
"""A number, exact as it was sent: one with a fraction is a Decimal."""


MatchType = Literal["any", "exact"]
"""`exact` takes one value."""


OfferType = Literal["CPR", "CPI", "CPL", "CPC", "CPE", "CPA", "APK_INSTALL", "APK_REGISTER"]


class OfferTypeMatch(TypedDict):
    """An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent."""
    type: MatchType
    value: NotRequired[List[OfferType]]
    values: NotRequired[List[OfferType]]


class OfferTypeFilter(TypedDict):
    dim: Literal["offer_type"]
    match: OfferTypeMatch


Platform = Literal["ios", "android", "web"]


class PlatformMatch(TypedDict):
    """An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent."""
    type: MatchType
    value: NotRequired[List[Platform]]
    values: NotRequired[List[Platform]]


class PlatformFilter(TypedDict):
    dim: Literal["platform"]
    match: PlatformMatch


Country = Literal[
    "AD", "AE", "AF", "AG", "AI", "AL", "AM", "AO", "AQ", "AR", "AS", "AT", "AU", "AW", "AX", "AZ", "BA", "BB", "BD",
    "BE", "BF", "BG", "BH", "BI", "BJ", "BL", "BM", "BN", "BO", "BQ", "BR", "BS", "BT", "BV", "BW", "BY", "BZ", "CA",
    "CC", "CD", "CF", "CG", "CH", "CI", "CK", "CL", "CM", "CN", "CO", "CR", "CU", "CV", "CW", "CX", "CY", "CZ", "DE",
    "DJ", "DK", "DM", "DO", "DZ", "EC", "EE", "EG", "EH", "ER", "ES", "ET", "FI", "FJ", "FK", "FM", "FO", "FR", "GA",
    "GB", "GD", "GE", "GF", "GG", "GH", "GI", "GL", "GM", "GN", "GP", "GQ", "GR", "GS", "GT", "GU", "GW", "GY", "HK",
    "HM", "HN", "HR", "HT", "HU", "ID", "IE", "IL", "IM", "IN", "IO", "IQ", "IR", "IS", "IT", "JE", "JM", "JO", "JP",
    "KE", "KG", "KH", "KI", "KM", "KN", "KP", "KR", "KW", "KY", "KZ", "LA", "LB", "LC", "LI", "LK", "LR", "LS", "LT",
    "LU", "LV", "LY", "MA", "MC", "MD", "ME", "MF", "MG", "MH", "MK", "ML", "MM", "MN", "MO", "MP", "MQ", "MR", "MS",
    "MT", "MU", "MV", "MW", "MX", "MY", "MZ", "NA", "NC", "NE", "NF", "NG", "NI", "NO", "NL", "NP", "NR", "NU", "NZ",
    "OM", "PA", "PE", "PF", "PG", "PH", "PK", "PL", "PM", "PN", "PR", "PS", "PT", "PW", "PY", "QA", "RE", "RO", "RS",
    "RU", "RW", "SA", "SB", "SC", "SD", "SE", "SG", "SH", "SI", "SJ", "SK", "SL", "SM", "SN", "SO", "SR", "SS", "ST",
    "SV", "SX", "SY", "SZ", "TC", "TD", "TF", "TG", "TH", "TJ", "TK", "TL", "TM", "TN", "TO", "TR", "TT", "TV", "TW",
    "TZ", "UA", "UG", "UM", "US", "UY", "UZ", "VA", "VC", "VE", "VG", "VI", "VN", "VU", "WF", "WS", "YE", "YT", "ZA",
    "ZM", "ZW", "XK",
]
"""ISO 3166-1 alpha-2, and `XK` for Kosovo. Lower case is read, too."""


class CountryMatch(TypedDict):
    """An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent."""
    type: MatchType
    value: NotRequired[List[Country]]
    values: NotRequired[List[Country]]


class CountryFilter(TypedDict):
    dim: Literal["country"]
    match: CountryMatch


class OfferIdMatch(TypedDict):
    """An offer passes if one of the values holds for it. `values` is another name of `value`; one of them is sent."""
    type: MatchType
    value: NotRequired[List[str]]
    values: NotRequired[List[str]]


class OfferIdFilter(TypedDict):
    dim: Literal["offer_id"]
    match: OfferIdMatch


OffersFilter = Union[OfferTypeFilter, PlatformFilter, CountryFilter, OfferIdFilter]


Id = str


Seconds = int
"""UNIX seconds."""


class Usd(TypedDict):
    cur: Literal["USD"]
    amt: Number


class InApp(TypedDict):
    """In the app's own currency."""
    cur: str
    amt: Number


Category = Literal["SINGLE_STEP", "MULTI_REWARD", "DEPOSIT", "GAMING", "FINANCE", "SURVEY", "NEW"]


class ListedGoal(TypedDict):
    # The `rid` of a tracking URL.
    id: Id
    # The advertiser's event code.
    gl_val: Union[str, None]
    ttl: str
    # Numbered steps by line.
    instr: str
    pyt: Usd
    inapp_pyt: InApp
    ord: int


class ListedTargeting(TypedDict):
    # Empty is everywhere.
    include: List[Country]
    exclude: List[Country]


class CapLeft(TypedDict):
    dur: Literal["DAILY"]
    # Left until 00:00 UTC.
    lim: int


class ListedOfferCrtvs(TypedDict):
    ic_url: str


class ListedOfferDesc(TypedDict):
    raw: str


class ListedOfferMetrics(TypedDict):
    m_type: Literal["GLOBAL"]
    # Conversions for each click.
    cr: Number
    # USD for each click.
    epc: Number


class ListedOffer(TypedDict):
    id: Id
    # When it last changed, UNIX seconds.
    upd_ts: Seconds
    off_type: OfferType
    # The app that it promotes.
    s_id: str
    name: str
    # The landing page, usually of a store.
    lp_url: str
    # The sum of its goals.
    pyt: Usd
    inapp_pyt: InApp
    crtvs: ListedOfferCrtvs
    desc: ListedOfferDesc
    ctg: List[Category]
    gls: List[ListedGoal]
    # Replace its placeholders before use. It ends in `&sig={sig}` if the app has a `click_secret`.
    trk_url: str
    # Append `user_id` and the other click parameters.
    trk_url_base: str
    geo_tgt: ListedTargeting
    os: Platform
    # Of the last 30 days; absent without clicks.
    metrics: NotRequired[List[ListedOfferMetrics]]
    conversion_cap: NotRequired[CapLeft]
    click_cap: NotRequired[CapLeft]


class OffersPage(TypedDict):
    offers: List[ListedOffer]
    # Offers on all pages.
    total: int


Day = str


Dimension = Literal["date", "app", "country", "placement_id", "ad_tag", "demand_source", "sdk_v"]


Metric = Literal[
    "ad_requests", "ad_responses", "impressions", "clicks", "revenue", "ecpm", "fill_rate", "show_rate", "click_rate",
]


class ReportQueryDateRange(TypedDict):
    start_date: Day
    end_date: Day


class ReportQueryFilters(TypedDict):
    dimension: Dimension
    values: List[Union[str, Number]]


class ReportQueryOrderBy(TypedDict):
    # Any metric or a requested dimension.
    column: Union[Dimension, Metric]
    ascending: bool


class ReportQueryPagination(TypedDict):
    page: NotRequired[int]
    # Rows on a page.
    count: NotRequired[int]


class ReportQuery(TypedDict):
    """`ad_tag`, as a dimension, filter or order, does not go with ad_requests, ad_responses, fill_rate or show_rate.
    Other members at this level are ignored."""
    # Both days are included; the end is not before the start, and at most 90 days after it.
    date_range: ReportQueryDateRange
    dimensions: List[Dimension]
    metrics: List[Metric]
    # A fact passes them all; of each, one of the values.
    filters: NotRequired[Union[List[ReportQueryFilters], None]]
    # Without it by date, else by the first metric, descending.
    order_by: NotRequired[Union[List[ReportQueryOrderBy], None]]
    pagination: NotRequired[Union[ReportQueryPagination, None]]


AppId = str
"""8 digits; leading zeros are part of it."""


class ReportRowApp(TypedDict):
    name: str


class ReportRow(TypedDict):
    """The requested dimensions and metrics. A metric that is 0 is left out."""
    date: NotRequired[Day]
    app_id: NotRequired[AppId]
    app: NotRequired[ReportRowApp]
    # `ZZ` where it is not known.
    country: NotRequired[str]
    placement_id: NotRequired[str]
    ad_tag: NotRequired[str]
    demand_source: NotRequired[str]
    sdk_v: NotRequired[str]
    ad_requests: NotRequired[int]
    ad_responses: NotRequired[int]
    impressions: NotRequired[int]
    clicks: NotRequired[int]
    # USD; reversals may make it negative.
    revenue: NotRequired[Number]
    # USD for 1000 impressions.
    ecpm: NotRequired[Number]
    # ad_responses / ad_requests
    fill_rate: NotRequired[Number]
    # impressions / ad_responses
    show_rate: NotRequired[Number]
    # clicks / impressions
    click_rate: NotRequired[Number]


class Report(TypedDict):
    rows: List[ReportRow]


class ChangedSums(TypedDict):
    """What the app has on the day. The same before and after, where only other dimensions changed."""
    ad_requests: int
    ad_responses: int
    impressions: int
    clicks: int
    # In USD.
    revenue: Number


class DayChange(TypedDict):
    date: Day
    app_id: AppId
    # The operator replaced or added facts; clicks or rewards came late; the operator restated the day from its
    # sources; the stored facts were put back to an earlier copy.
    cause: Literal["facts_replaced", "facts_added", "late_batch", "restated", "restored"]
    # When it changed last.
    changed_ts: int
    author: Literal["operator", "signpost"]
    before: ChangedSums
    after: ChangedSums


class DayChanges(TypedDict):
    changes: List[DayChange]
    # For `after` of the next question.
    cursor: str
    # Whether there is more to read at once.
    has_more: bool
    # As `X-Final-Through` of reports.
    final_through: Union[Day, None]


TransactionId = str
"""A reward's identity, in the form of a UUID. That of a test app begins with `test-`."""


RewardState = Literal["pending", "approved", "rejected", "reversed", "held", "refused"]
"""`held` waits for the operator. `refused` was not paid for the reason in `code`."""


class RewardClick(TypedDict):
    country: Union[str, None]
    placement: Union[str, None]
    gaid: Union[str, None]
    idfa: Union[str, None]
    c1: Union[str, None]
    c2: Union[str, None]
    c3: Union[str, None]
    c4: Union[str, None]
    c5: Union[str, None]


class RewardTerms(TypedDict):
    # A revision of the offer's terms.
    offer_at_click: int
    # A revision of the app's terms.
    app_at_click: int
    # The revision that pays.
    offer_paying: int
    # Whether it was paid by terms that newer ones had superseded.
    is_superseded: bool


class ChangedReward(TypedDict):
    # When it changed last.
    changed_ts: int
    app_id: AppId
    # The same in every state.
    transaction_id: TransactionId
    state: RewardState
    offer_id: str
    goal_id: str
    # In the app's currency, also while it is not paid.
    value: Number
    # In USD.
    payout: Number
    currency: str
    click_ts: int
    # When its first postback came.
    received_ts: int
    # When it was paid or reached its state.
    conversion_ts: int
    # Why it is held or was refused.
    code: Union[str, None]
    # The words of the advertiser or of the operator.
    reason: Union[str, None]
    # Null of an erased user.
    user_id: Union[str, None]
    is_erased: bool
    goal_value: Union[str, None]
    # The sender's own id of it.
    txn: Union[str, None]
    click: RewardClick
    terms: RewardTerms


class ChangedRewards(TypedDict):
    rewards: List[ChangedReward]
    # For `after` of the next question.
    cursor: str
    # Whether there is more to read at once.
    has_more: bool


PostbackStatus = Literal["approved", "pending", "rejected", "reversed"]


class Conversion(TypedDict):
    transaction_id: TransactionId
    # As it stands now.
    status: Literal["approved", "pending", "rejected", "reversed"]
    # It was known already and nothing changed.
    duplicate: bool


class CallbackFields(TypedDict):
    """The fields that every event may have. An absent field is left out."""
    # The user who clicked.
    user_id: str
    # The reward in the app's currency: above or equal to 0 for `approved`, its exact negative for `reversed`, 0 for
    # `pending` and `rejected`.
    value: Number
    # The same in USD, with at most 6 decimals.
    payout: Number
    # The name of the app's currency.
    currency: str
    # The identity of this event, the same on every attempt. Pay each once. That of a test begins with `test-`.
    transaction_id: str
    # The offer that was clicked.
    offer_id: str
    # The goal that was reached.
    goal_id: str
    # The goal's `gl_val`; left out where it has none.
    goal_value: NotRequired[str]
    # The app in which the user clicked.
    app_id: str
    # The advertising identifier of Android, as at the click; left out where the click had none.
    gaid: NotRequired[str]
    # The advertising identifier of iOS, as at the click; left out where the click had none.
    idfa: NotRequired[str]
    # The publisher's own parameter `c1`, as at the click; left out where the click had none.
    c1: NotRequired[str]
    # The publisher's own parameter `c2`, as at the click; left out where the click had none.
    c2: NotRequired[str]
    # The publisher's own parameter `c3`, as at the click; left out where the click had none.
    c3: NotRequired[str]
    # The publisher's own parameter `c4`, as at the click; left out where the click had none.
    c4: NotRequired[str]
    # The publisher's own parameter `c5`, as at the click; left out where the click had none.
    c5: NotRequired[str]
    # The user's country at the click, ISO 3166-1 alpha-2 or `XK`; left out where it is not known.
    country: NotRequired[str]
    # The time of the click, UNIX seconds.
    click_ts: int
    # The time at which Signpost recorded the event, UNIX seconds.
    conversion_ts: int
    # Why, in the words of the advertiser or of the operator; left out if they gave none.
    reason: NotRequired[str]
    # The transaction id again. Sent with `legacy_md5` alone.
    token: NotRequired[str]
    # Lower-case hexadecimal MD5 of `secret.user_id.int(value).token`. Sent with `legacy_md5` alone.
    signature: NotRequired[str]


class ApprovedEvent(CallbackFields):
    """The user has earned the reward."""
    status: Literal["approved"]


class ReversedEvent(CallbackFields):
    """A reward is taken back."""
    status: Literal["reversed"]
    # The id of the reward that the event is about. Sent with every status but `approved`.
    original_transaction_id: str


class PendingEvent(CallbackFields):
    """A conversion waits, and nothing is paid yet."""
    status: Literal["pending"]
    # The id of the reward that the event is about. Sent with every status but `approved`.
    original_transaction_id: str
    # The reward that is not paid, in the app's currency. Sent with `pending` and `rejected` alone.
    pending_value: Number


class RejectedEvent(CallbackFields):
    """A conversion will not be paid."""
    status: Literal["rejected"]
    # The id of the reward that the event is about. Sent with every status but `approved`.
    original_transaction_id: str
    # The reward that is not paid, in the app's currency. Sent with `pending` and `rejected` alone.
    pending_value: Number


CallbackEvent = Union[ApprovedEvent, ReversedEvent, PendingEvent, RejectedEvent]
