//! The clicks that count in an offer's metrics (docs/DECISIONS.md, "Offers"). Anybody can make up clicks and nobody
//! conversions, so conversions say how many clicks of an app are likely.

/// An app's part of an offer's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppFigures {
    /// All its clicks.
    pub clicks: u64,
    /// Its conversions, minus reversals.
    pub conversions: u64,
}

/// The fewest apps with clicks and conversions that tell what is likely. Of fewer, the upper quartile is the highest, which
/// may be made up.
const MIN_APPS: usize = 4;
/// An app may have one in so many of the clicks that count without conversions for them.
const SHARE: u128 = 20;

/// The clicks that count, of the clicks and conversions of all apps. Apps that are not listed count as one.
pub fn counted_clicks(all: AppFigures, apps: &[AppFigures]) -> u64 {
    // Without its clicks, an app is not known. It belongs to the rest.
    let known: Vec<AppFigures> = apps.iter().filter(|app| app.clicks > 0).copied().collect();
    let listed = known.iter().fold(AppFigures::default(), |sum, app| AppFigures {
        clicks: sum.clicks.saturating_add(app.clicks),
        conversions: sum.conversions.saturating_add(app.conversions),
    });
    let rest = AppFigures {
        clicks: all.clicks.saturating_sub(listed.clicks),
        conversions: all.conversions.saturating_sub(listed.conversions),
    };
    // The minority cannot tell about the majority.
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
    // An app above its share gets its share of what counts then: `likely + n * counted / SHARE`, solved for `counted`. At most
    // SHARE - 1 apps are above it.
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

/// Clicks for each conversion.
#[derive(Clone, Copy)]
struct Rate(AppFigures);

impl Rate {
    fn clicks_for(self, conversions: u64) -> u64 {
        let clicks = u128::from(conversions) * u128::from(self.0.clicks);
        let clicks = clicks.checked_div(u128::from(self.0.conversions)).unwrap_or(0);
        u64::try_from(clicks).unwrap_or(u64::MAX)
    }
}

/// The rate that a quarter of the apps with conversions exceed. None if they are too few.
fn upper_quartile(apps: &[AppFigures]) -> Option<Rate> {
    let mut converting: Vec<&AppFigures> = apps.iter().filter(|app| app.conversions > 0).collect();
    if converting.len() < MIN_APPS {
        return None;
    }
    let product =
        |clicks: &AppFigures, of: &AppFigures| u128::from(clicks.clicks) * u128::from(of.conversions);
    converting.sort_unstable_by(|a, b| product(a, b).cmp(&product(b, a)));
    let below = (converting.len() * 3).div_ceil(4);
    converting.get(below.saturating_sub(1)).map(|app| Rate(**app))
}

#[cfg(test)]
mod tests;
