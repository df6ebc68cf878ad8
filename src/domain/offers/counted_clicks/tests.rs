//! The clicks that count in an offer's metrics.

use proptest::prelude::*;

use super::*;

fn app(clicks: u64, conversions: u64) -> AppFigures {
    AppFigures { clicks, conversions }
}

fn sum(apps: &[AppFigures]) -> AppFigures {
    let of = |figure: fn(&AppFigures) -> u64| apps.iter().map(figure).sum();
    app(of(|app| app.clicks), of(|app| app.conversions))
}

/// The clicks that count if all apps are listed.
fn counted(apps: &[AppFigures]) -> u64 {
    counted_clicks(sum(apps), apps)
}

/// `count` apps with the same figures, and others.
fn alike(count: usize, figures: AppFigures, others: &[AppFigures]) -> Vec<AppFigures> {
    [vec![figures; count], others.to_vec()].concat()
}

#[test]
fn clicks_count_as_far_as_conversions_make_them_likely() {
    for (what, apps, expected) in [
        ("nothing", vec![], 0),
        ("no conversions", alike(20, app(100, 0), &[]), 2_000),
        ("equal rates of unequal apps", vec![app(3, 1), app(9, 3), app(300, 100), app(6, 2)], 318),
        ("more conversions than clicks", alike(10, app(1, 3), &[]), 10),
        // One of eleven apps: it gets a twentieth of the result.
        ("made-up clicks", alike(10, app(100, 10), &[app(500, 10)]), 1_157),
        ("no conversions for them", alike(10, app(100, 10), &[app(400, 0)]), 1_052),
        ("the smallest offer", alike(9, app(1, 1), &[app(401, 1)]), 10),
        ("any number", alike(10, app(100, 10), &[app(u64::MAX / 2, 0)]), 1_052),
        ("up to a twentieth", alike(19, app(100, 10), &[app(100, 0)]), 2_000),
        // Ten twentieths, and the maximum that twenty or more apps can add.
        ("ten apps", alike(10, app(100, 10), &[app(9_000, 0); 10]), 2_000),
        ("nineteen apps", alike(10, app(100, 10), &[app(9_000, 0); 19]), 20_000),
        ("thirty apps", alike(10, app(100, 10), &[app(9_000, 0); 30]), 271_000),
        // Most apps have no conversion yet.
        ("few conversions", alike(10, app(10, 1), &[app(10, 0); 90]), 1_000),
        // Of three apps, all but one may be faked. Of four apps, the highest rate is ignored.
        ("three apps", alike(2, app(100, 10), &[app(500, 10)]), 700),
        ("four apps", alike(3, app(100, 10), &[app(500, 10)]), 421),
        // The limit: an app that converts better than most can be reduced to their rate.
        ("the best app", alike(9, app(100, 10), &[app(9_000, 100)]), 2_000),
    ] {
        assert_eq!(counted(&apps), expected, "{what}");
    }
}

#[test]
fn apps_that_are_not_listed_count_as_one() {
    let apps = alike(10, app(100, 10), &[]);
    for (clicks, conversions, expected) in [
        (0, 0, 1_000),
        (40, 0, 1_040),
        (9_000, 0, 1_052),
        (500, 50, 1_500),
        (9_000, 50, 1_578),
        // Most conversions belong to unlisted apps.
        (9_000, 100, 2_105),
        (9_000, 101, 10_000),
    ] {
        let all = app(1_000 + clicks, 100 + conversions);
        assert_eq!(counted_clicks(all, &apps), expected, "{clicks} {conversions}");
    }
    // The clicks of one app are not listed.
    let with_half = alike(10, app(100, 10), &[app(0, 50)]);
    assert_eq!(counted_clicks(app(1_500, 150), &with_half), 1_500);
}

#[test]
fn the_largest_figures_do_not_overflow() {
    let most = app(u64::MAX, u64::MAX);
    assert_eq!(counted_clicks(most, &[most; 200]), u64::MAX);
    assert_eq!(counted_clicks(app(u64::MAX, 1), &[app(u64::MAX, 1); 4]), u64::MAX);
    // Figures that contradict each other.
    assert_eq!(counted_clicks(app(7, 0), &[most; 9]), 7);
    assert_eq!(counted_clicks(app(0, 9), &[app(1, 1); 9]), 0);
}

/// Ten or more apps whose rates differ by at most a twenty-fifth.
fn offers() -> impl Strategy<Value = Vec<AppFigures>> {
    let apps = proptest::collection::vec((1_u64..300, 0_u64..=40), 10..40);
    (1_u64..60, apps).prop_map(|(rate, apps)| {
        let of = |(conversions, more): (u64, u64)| app(conversions * rate * (1_000 + more) / 1_000, conversions);
        apps.into_iter().map(of).collect()
    })
}

/// True if `cr` and `epc` move by less than a tenth. Both are divided by the clicks that count.
fn moves_little(before: u64, after: u64) -> bool {
    let (before, after) = (u128::from(before), u128::from(after));
    before * 10 > after * 9 && before * 10 < after * 11
}

proptest! {
    #[test]
    fn clicks_that_are_made_up_for_one_app_move_no_figure_by_a_tenth(
        apps in offers(), which in any::<prop::sample::Index>(), made_up in prop_oneof![0_u64..1_000, any::<u32>().prop_map(u64::from)],
    ) {
        let before = counted(&apps);
        prop_assert_eq!(before, sum(&apps).clicks);
        let mut attacked = apps.clone();
        which.get_mut(&mut attacked).clicks += made_up;
        prop_assert!(moves_little(before, counted(&attacked)), "{} {}", before, counted(&attacked));
        // An app without conversions, and an app that is not listed.
        attacked = [apps.clone(), vec![app(made_up, 0)]].concat();
        let after = counted(&attacked);
        prop_assert!(moves_little(before, after), "{} {}", before, after);
        prop_assert_eq!(counted_clicks(sum(&attacked), &apps), after);
    }

    #[test]
    fn no_more_clicks_count_than_there_are_and_some_do(
        apps in proptest::collection::vec((0_u64..500, 0_u64..20), 0..60), rest in (0_u64..900, 0_u64..90),
    ) {
        let apps: Vec<_> = apps.into_iter().map(|(clicks, conversions)| app(clicks, conversions)).collect();
        let all = sum(&[apps.clone(), vec![app(rest.0, rest.1)]].concat());
        let counted = counted_clicks(all, &apps);
        prop_assert!(counted <= all.clicks && (counted > 0) == (all.clicks > 0), "{} of {}", counted, all.clicks);
    }
}
