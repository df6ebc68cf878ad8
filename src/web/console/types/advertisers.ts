// Advertisers, their tokens and their postbacks, as the operator's API has them.

/** A valid one. */
export interface Token {
  token_id: string;
  issued_at: number;
}

/** A token that came with a postback within 90 days. It may have been revoked. */
export interface TokenUse {
  token_id: string;
  last_used_at: number;
}

export interface Advertiser {
  advertiser_id: string;
  name: string;
  tokens: Token[];
}

export interface AdvertiserPage {
  advertisers: Advertiser[];
  cursor: string | null;
}

export interface NewToken {
  token_id: string;
  token: string;
}

export interface Parameter {
  name: string;
  value: string;
}

interface Verdict {
  http_status: number;
  code: string;
  verdict: string;
  remedy: string;
  parameters: Parameter[];
}

/** A postback that came. Secrets in its parameters are masked. */
export interface Postback extends Verdict {
  at: number;
  method: string;
  transaction_id?: string | null;
  app_id?: string | null;
  offer_id?: string | null;
  goal_id?: string | null;
}

export interface PostbackPage {
  postbacks: Postback[];
  tokens: TokenUse[];
  /** Those that came since that time and are only counted. */
  not_shown: number;
  since: number | null;
  cursor: string | null;
}

/** What Signpost would answer to a URL. */
export interface PostbackCheck extends Verdict {
  /** The words of the answer to the sender. */
  error: string | null;
  /** The reward that it would be. */
  transaction_id: string | null;
  /** Only the app is known where the click itself is not kept any more. */
  click: {
    app_id: string;
    offer_id?: string;
    goal_id?: string;
    user_id?: string;
    clicked_at?: number;
    country?: string | null;
    placement?: string | null;
  } | null;
}
