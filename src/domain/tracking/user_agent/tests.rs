use proptest::prelude::*;

use super::{crawlers::NAMES, *};

/// User agents of people on Android devices.
const ANDROID: &[&str] = &[
    // Browsers.
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0",
    "Mozilla/5.0 (Linux; arm_64; Android 12; CPH2205) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 YaApp_Android/23.90.1 YaSearchBrowser/23.90.1 BroPP/1.0 SA/3 Mobile Safari/537.36",
    // In-app browsers.
    "Mozilla/5.0 (Linux; Android 13; SM-A536B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/127.0.6533.103 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/475.1.0.46.82;IABMV/1;]",
    "Mozilla/5.0 (Linux; Android 12; M2102J20SG; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/125.0.6422.165 Mobile Safari/537.36 [Pinterest/Android]",
    "Mozilla/5.0 (Linux; Android 12; CPH2211; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/115.0 Mobile Safari/537.36 trill_2023009040 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly app_version/30.9.4 ByteLocale/en ByteFullLocale/en Region/PH BytedanceWebview/d8a21c6",
    "Mozilla/5.0 (Linux; Android 11; SM-A207M; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0 Mobile Safari/537.36 Line/13.21.1/IAB",
    "Mozilla/5.0 (Linux; Android 13; SM-S911N; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0 Mobile Safari/537.36;KAKAOTALK 2410610",
    // Phones whose names look like something else.
    "Mozilla/5.0 (Linux; Android 9; CUBOT_X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/103.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 13; CUBOT KINGKONG STAR; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; U; Android 7.0; Cubot Build/NRD90M) AppleWebKit/537.36",
    // HTTP libraries with which apps and their backends call the tracking URL.
    "Dalvik/2.1.0 (Linux; U; Android 12; Redmi Note 9 Build/SP1A.210812.016)",
];

/// User agents of people on iPhones, iPads and iPods.
const IOS: &[&str] = &[
    // Browsers.
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (iPod touch; CPU iPhone OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1 Mobile/15E148 Safari/604.1",
    // In-app browsers.
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21G93 Instagram 342.0.2.27.90 (iPhone14,5; iOS 17_6_1; en_US; en; scale=3.00; 1170x2532; 624229423; IABMV/1)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 [FBAN/FBIOS;FBAV/470.0.0.40.104;FBBV/617193293;FBDV/iPhone13,2;FBMD/iPhone;FBSN/iOS;FBSV/17.5;FBSS/3;FBID/phone;FBLC/de_DE;FBOP/5]",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Snapchat/12.90.0.46 (like Safari/8617.2.4.10.7, panda)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 DaumApps/2.0 DaumDevice/mobile",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 LinkedInApp/9.29.4586",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/317.0.634488990 Mobile/15E148 Safari/604.1",
    // HTTP libraries with which apps and their backends call the tracking URL.
    "Wallet/2.4 (com.wallet.app; build:9; iPhone15,3) Alamofire/5.9",
];

/// User agents of people on other devices, or without a recognizable device.
const NEITHER: &[&str] = &[
    // Browsers.
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    // Systems whose User-Agent names another system's devices.
    "Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15063",
    "Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; Trident/7.0; Touch; rv:11.0; IEMobile/11.0; NOKIA; Lumia 520) like iPhone OS 7_0_3 Mac OS X AppleWebKit/537 (KHTML, like Gecko) Mobile Safari/537",
    "Mozilla/5.0 (Mobile; LYF/F90M/LYF-F90M-000-02-28-130318; Android; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.0",
    "Mozilla/5.0 (Linux; Tizen 2.3; SAMSUNG SM-Z130H; like Android) AppleWebKit/537.3 (KHTML, like Gecko) Version/2.3 Mobile Safari/537.3",
    "Mozilla/5.0 (Linux; U; Android 4.4; Sailfish 3.0; like iPhone) Gecko Firefox/45.0",
    "NewsReader/2 (iPhone; unlike Android)",
    // HTTP libraries with which apps and their backends call the tracking URL.
    "okhttp/4.12.0",
    "Offerwall/3 CFNetwork/1568.200.51 Darwin/24.1.0",
    "Dart/3.5 (dart:io)",
    "curl/8.5.0",
    "python-requests/2.32.3",
    "",
];

/// User agents of crawlers, link previewers and monitors.
const CRAWLERS: &[&str] = &[
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Googlebot-Image/1.0",
    "AdsBot-Google (+http://www.google.com/adsbot.html)",
    "AdsBot-Google-Mobile-Apps",
    "Mediapartners-Google",
    "APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)",
    "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)",
    "GoogleOther",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; Google Web Preview) Chrome/41.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11; moto g power) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Mobile Safari/537.36 Chrome-Lighthouse",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b",
    "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
    "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; YandexImages/3.0)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
    "Mozilla/5.0 (compatible; Yeti/1.1; +https://naver.me/spd)",
    "Mozilla/5.0 (compatible; Daum/4.1; +http://cs.daum.net/faq/15/4118.html)",
    "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
    "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; https://zhanzhang.toutiao.com/)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "Twitterbot/1.0",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
    "WhatsApp/2.23.20.0 A",
    "TelegramBot (like TwitterBot)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Slack-ImgProxy (+https://api.slack.com/robots)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
    "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
    "Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots",
    "Mozilla/5.0 (compatible; TikTokSpider; ttspider-feedback@tiktok.com)",
    "facebookexternalhit/1.1;line-poker/1.0",
    "kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
    "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
    "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
    "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
    "Iframely/1.3.1 (+https://iframely.com/docs/about)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
    "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
    "Scrapy/2.11.0 (+https://scrapy.org)",
    "GOOGLEBOT",
];

#[test]
fn a_platform_is_returned_only_if_the_user_agent_is_unambiguous() {
    let (android, ios) = (Some(Platform::Android), Some(Platform::Ios));
    for (user_agents, platform) in [(ANDROID, android), (IOS, ios), (NEITHER, None)] {
        for user_agent in user_agents {
            assert_eq!(device_platform(user_agent), platform, "{user_agent}");
        }
    }
}

#[test]
fn a_click_of_a_person_counts_with_any_browser_app_or_library() {
    for user_agent in [ANDROID, IOS, NEITHER].into_iter().flatten() {
        assert!(is_confirmed_click(false, user_agent, ""), "{user_agent}");
    }
}

#[test]
fn crawlers_and_previewers_do_not_count() {
    for user_agent in CRAWLERS {
        assert!(is_crawler(user_agent), "{user_agent}");
        assert!(!is_confirmed_click(false, user_agent, ""), "{user_agent}");
    }
}

#[test]
fn a_head_request_does_not_count() {
    assert!(!is_confirmed_click(true, ANDROID[0], ""));
}

#[test]
fn a_prefetch_does_not_count() {
    let table = [
        ("prefetch   ", true),
        ("preview   ", true),
        (" prefetch;prerender  ", true),
        (" prefetch;anonymous-client-ip  ", true),
        (" Prerender  ", true),
        ("  preview ", true),
        ("   prefetch", true),
        ("navigate   ", false),
        ("   ", false),
        ("", false),
    ];
    for (purposes, prefetch) in table {
        let answers = (is_prefetch(purposes), is_confirmed_click(false, ANDROID[0], purposes));
        assert_eq!(answers, (prefetch, !prefetch), "{purposes:?}");
    }
}

#[test]
fn every_name_of_the_list_is_found() {
    let names: Vec<&str> = NAMES.lines().collect();
    assert!(names.is_sorted() && names.len() > 500, "{}", names.len());
    for name in names {
        assert!(is_crawler(&format!("Mozilla/5.0 (Linux) {}1.0", name.to_uppercase())), "{name}");
        assert!(!is_crawler(&format!("Mozilla/5.0 (Linux) x{name}")) || name.len() > 3, "{name}");
    }
}

proptest! {
    #[test]
    fn any_user_agent_is_parsed_without_a_panic(header in "(\\PC|[a-z0-9 /;(]|crawler|Android|iPhone){0,20}") {
        device_platform(&header);
        // The naive search finds only whole words, so it is a lower bound.
        let naive = header.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case("crawler"));
        prop_assert!(!naive || is_crawler(&header));
    }
}
