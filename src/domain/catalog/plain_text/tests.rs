use proptest::prelude::*;

use super::*;

#[test]
fn a_text_that_is_not_html_is_unchanged() {
    for text in [
        "",
        "Score < 5 & win",
        "a <3 b, c > d",
        "if a <b and c> d then e",
        "Enter <your name> & <code-word>",
        "https://example.com/?a=1&lang=de&copy=2&reg=3",
        "1. Install the app\n2. Open it\n3. Reach level 5",
        "Tom &Jerry; R&D; &#; &#xZZ;",
        "two  spaces\n  and an indent",
        "unfinished <b",
        "unfinished <a href=\"x",
        "契約した星霊 «№\u{a0}1»",
        "<>",
    ] {
        assert_eq!(plain_text(text), text);
    }
}

#[test]
fn line_ends_and_trailing_spaces_are_normalized() {
    for (text, expected) in [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a \t\nb  ", "a\nb"),
        ("\n\na\n\n\n\nb\n\n", "a\n\nb"),
        ("a\n \n\u{a0}\nb", "a\n\nb"),
    ] {
        assert_eq!(plain_text(text), expected, "{text:?}");
    }
}

#[test]
fn html_becomes_lines_of_text() {
    for (html, expected) in [
        ("one<br>two<BR/>three<br />four", "one\ntwo\nthree\nfour"),
        ("one<br><br>two<br><br><br><br>three", "one\n\ntwo\n\nthree"),
        ("one<br>\ntwo<br/>\r\n<br/>\r\nthree", "one\ntwo\n\nthree"),
        ("<p>One</p><p>Two</p>\n\n<p>Three", "One\n\nTwo\n\nThree"),
        ("<div>one</div>\n<div>two</div>three", "one\ntwo\nthree"),
        ("<h2>Title</h2>text", "Title\n\ntext"),
        ("<b>1. Install</b>\n2. Open &amp; play\n3. Win", "1. Install\n2. Open & play\n3. Win"),
        ("1. Install<br>2. Open", "1. Install\n2. Open"),
        ("Only:<ul>\n <li>One</li>\n <li>Two</li>\n</ul>End", "Only:\n- One\n- Two\nEnd"),
        ("<ul><li>- One<li>• Two</ul>", "- One\n• Two"),
        ("<ol><li>Install</li><li><p>Open</p></li></ol>", "1. Install\n\n2. Open"),
        ("<ol><li>1. Install</li><li>2) Open</li><li>3 coins</li></ol>", "1. Install\n2) Open\n3. 3 coins"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n- b\n2. c"),
        ("<ul><li></li></ul>end", "end"),
        ("a <b>bold</b>, <i>plain</i>", "a bold, plain"),
        ("<a href=\"https://x.example/?a>b\" target='_blank'>here</a>!", "here!"),
        ("<p class=x>text</p >", "text"),
        ("<tr><td>one</td><td>two</td></tr><tr><td>three", "one two\nthree"),
        ("a<!-- <b>not</b> shown -->b", "ab"),
        ("<style>p { color: red }</style>a<SCRIPT>1 < 2</SCRIPT >b<script>never closed", "ab"),
        ("level&nbsp;12, 1&nbsp;&euro;&nbsp; &nbsp;a day", "level 12, 1 € a day"),
        ("R&amp;D &lt;b&gt; &quot;x&quot; &#39;y&apos; &#x2013; &hellip;", "R&D <b> \"x\" 'y' – …"),
        ("it&#146;s &#150; here", "it’s – here"),
        ("&amp;amp; is decoded once", "&amp; is decoded once"),
        ("1 < 2 &amp; <b>3</b> > 2", "1 < 2 & 3 > 2"),
        ("<b>one</b>   two\t three", "one two three"),
        ("<p>&nbsp;</p>a<p>&nbsp;</p>", "a"),
        ("<br><br>a<br>", "a"),
    ] {
        assert_eq!(plain_text(html), expected, "{html:?}");
    }
}

proptest! {
    #[test]
    fn any_input_gives_normalized_lines(
        parts in proptest::collection::vec(
            prop_oneof![
                "[ a<>&;/\"'=\\r\\n\u{a0}é-]{0,6}",
                proptest::sample::select(vec![
                    "<br>", "</p>", "<li>", "<ol>", "</ol>", "<script>", "</script>", "<!--", "-->", "&nbsp;",
                    "&amp;", "<a href=\"", "\">", "&#10;", "&#13;",
                ]).prop_map(str::to_owned),
            ],
            0..20,
        ),
    ) {
        let text = plain_text(&parts.concat());
        prop_assert!(!text.contains('\r') && !text.contains("\n\n\n"), "{text:?}");
        prop_assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
        prop_assert!(!text.starts_with('\n') && !text.ends_with('\n'), "{text:?}");
    }
}

#[test]
fn a_line_shows_nothing_that_cannot_be_seen_and_stays_one_line() {
    for good in [
        "Coins",
        "x < y",
        "Tom &amp; Jerry",
        "Gr\u{fc}\u{df}e",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "<b>Bold</b>",
    ] {
        assert_eq!(check_line("name", good, 50), Ok(()), "{good}");
    }
    for bad in [
        "",
        " ",
        "<b> </b>",
        "\u{200d}",
        "Gold\u{202e}snioC",
        "Gold&#x202e;snioC",
        "\u{200b}",
        "Coins\u{feff}",
        "Gold\nCoins",
        "Gold<br>Coins",
        "Gold\tCoins",
        "Gold\u{7}",
        "Gold\u{2028}Coins",
        &"x".repeat(51),
    ] {
        let error = check_line("currency.name", bad, 50).expect_err(bad);
        assert!(error.path == "currency.name" && error.problem.is_ascii(), "{bad:?}");
    }
}
