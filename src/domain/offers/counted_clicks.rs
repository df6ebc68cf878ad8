//! The clicks that count in an offer's metrics (docs/DECISIONS.md, "Offers"). Anybody can fake clicks, but nobody can
//! fake conversions, so an app's conversions limit how many of its clicks are plausible.

/// An app's clicks and conversions of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppFigures {
    /// All clicks of the app.
    pub clicks: u64,
    /// The app's conversions, minus reversals.
    pub conversions: u64,
}

/// Minimum number of apps with both clicks and conversions. With fewer, no plausible rate is derived, because the upper
/// quartile would be the highest rate, which may be faked.
const MIN_APPS: usize = 4;
/// An app's clicks beyond its plausible rate may make up at most 1 / `SHARE` of the clicks that count.
const SHARE: u128 = 20;

/// The number of clicks that count, from the clicks and conversions of all apps. Unlisted apps count as one app.
pub fn counted_clicks(all: AppFigures, apps: &[AppFigures]) -> u64 {
    // An app without known clicks is part of the unlisted rest.
    let known: Vec<AppFigures> = apps.iter().filter(|app| app.clicks > 0).copied().collect();
    let listed = known.iter().fold(AppFigures::default(), |sum, app| AppFigures {
        clicks: sum.clicks.saturating_add(app.clicks),
        conversions: sum.conversions.saturating_add(app.conversions),
    });
    let rest = AppFigures {
        clicks: all.clicks.saturating_sub(listed.clicks),
        conversions: all.conversions.saturating_sub(listed.conversions),
    };
    // If the known apps have a minority of the conversions, their rate says nothing about the majority, so all clicks
    // count.
    let quartile = upper_quartile(&known).filter(|_| listed.conversions >= rest.conversions);
    let Some(rate) = quartile else {
        return all.clicks;
    };
    let mut excesses: Vec<u128> = known
        .iter()
        .chain([&rest])
        .map(|app| u128::from(app.clicks.saturating_sub(rate.clicks_for(app.conversions))))
        .collect();
    excesses.sort_unstable_by(|a, b| b.cmp(a));
    // Each app with an excess above its share is cut to exactly its share. If there are `n` such apps, the result
    // solves `counted = likely + n * counted / SHARE`. At most SHARE - 1 apps can be above their share.
    let (mut likely, mut counted) = (u128::from(all.clicks), u128::from(all.clicks));
    for (n, excess) in (1..SHARE).zip(excesses) {
        if excess * SHARE <= counted {
            break;
        }
        likely = likely.saturating_sub(excess);
        counted = likely * SHARE / (SHARE - n);
    }
    u64::try_from(counted).unwrap_or(u64::MAX).min(all.clicks)
}

/// Clicks per conversion.
#[derive(Clone, Copy)]
struct Rate(AppFigures);

impl Rate {
    fn clicks_for(self, conversions: u64) -> u64 {
        let clicks = u128::from(conversions) * u128::from(self.0.clicks);
        let clicks = clicks.checked_div(u128::from(self.0.conversions)).unwrap_or(0);
        u64::try_from(clicks).unwrap_or(u64::MAX)
    }
}

/// The rate that a quarter of the apps with conversions exceed. `None` if there are too few apps.
fn upper_quartile(apps: &[AppFigures]) -> Option<Rate> {
    let mut converting: Vec<&AppFigures> = apps.iter().filter(|app| app.conversions > 0).collect();
    if converting.len() < MIN_APPS {
        return None;
    }
    let product = |clicks: &AppFigures, of: &AppFigures| u128::from(clicks.clicks) * u128::from(of.conversions);
    converting.sort_unstable_by(|a, b| product(a, b).cmp(&product(b, a)));
    let below = (converting.len() * 3).div_ceil(4);
    converting.get(below.saturating_sub(1)).map(|app| Rate(**app))
}

#[cfg(test)]
mod tests;
