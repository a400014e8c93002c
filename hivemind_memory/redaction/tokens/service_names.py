"""Finds keys next to the name of the service that they belong to.

``NewsAPI: 9f0b…``, ``Vultr → P1QI…``, ``| Mailjet | 1d8d… |``: the name is known, and
what follows it looks as keys do. Names of projects whose commits have the same look are
believed only beside a word for a key.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.statement_words import MADE
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.spans import TextSpan, found_in, has_any
from hivemind_memory.redaction.values.value_check import (
    UUID,
    entropy,
    is_identifier,
    is_placeholder,
    is_wordy,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

NAMES = frozenset(
    (
        "openweather", "openweathermap", "newsapi", "tmdb", "omdb", "trakt",
        "pushover", "pushbullet", "gotify", "ifttt", "sonarr", "radarr", "lidarr",
        "prowlarr", "readarr", "jackett", "plex", "jellyfin", "emby", "tautulli",
        "overseerr", "syncthing", "nabucasa", "tuya", "nextdns", "adguard",
        "cloudflare", "hetzner", "vultr", "linode", "digitalocean", "scaleway", "ovh",
        "ovhcloud", "contabo", "netcup", "ionos", "strato", "gandi", "namecheap",
        "godaddy", "porkbun", "dynu", "duckdns", "desec", "bunny", "bunnycdn",
        "fastly", "akamai", "backblaze", "wasabi", "storj", "mailjet", "mailgun",
        "mailchimp", "mailtrap", "mailersend", "postmark", "sparkpost", "sendgrid",
        "brevo", "sendinblue", "twilio", "vonage", "nexmo", "plivo", "messagebird",
        "clickatell", "algolia", "meilisearch", "typesense", "pinecone", "weaviate",
        "qdrant", "openai", "anthropic", "mistral", "groq", "cohere", "replicate",
        "stability", "elevenlabs", "deepgram", "assemblyai", "deepl", "openrouter",
        "perplexity", "tavily", "firecrawl", "langsmith", "mapbox", "maptiler",
        "tomtom", "opencage", "geoapify", "locationiq", "ipinfo", "ipstack", "fixer",
        "openexchangerates", "alphavantage", "finnhub", "coinmarketcap", "coingecko",
        "etherscan", "bscscan", "polygonscan", "infura", "alchemy", "quicknode",
        "moralis", "binance", "kraken", "coinbase", "bitfinex", "kucoin", "bybit",
        "okx", "bitstamp", "stripe", "paypal", "braintree", "adyen", "mollie",
        "klarna", "razorpay", "paddle", "lemonsqueezy", "chargebee", "shopify",
        "woocommerce", "shippo", "easypost", "sendcloud", "datadog", "newrelic",
        "rollbar", "bugsnag", "honeybadger", "loggly", "papertrail", "logdna",
        "splunk", "pagerduty", "opsgenie", "statuspage", "uptimerobot", "pingdom",
        "betteruptime", "circleci", "travis", "buildkite", "snyk", "codecov",
        "vercel", "netlify", "heroku", "railway", "render", "supabase", "upstash",
        "contentful", "sanity", "prismic", "storyblok", "airtable", "notion", "asana",
        "trello", "clickup", "todoist", "calendly", "intercom", "zendesk",
        "freshdesk", "hubspot", "salesforce", "pipedrive", "segment", "mixpanel",
        "amplitude", "rapidapi", "apify", "scraperapi", "serpapi", "brightdata",
        "virustotal", "shodan", "censys", "abuseipdb", "urlscan", "clearbit",
        "onesignal", "pusher", "pubnub", "agora", "figma", "unsplash", "pexels",
        "giphy", "tenor", "lastfm", "discogs", "strava", "fitbit", "withings",
        "weatherapi", "accuweather", "wunderground", "tailscale", "zerotier", "ngrok",
        "doppler", "launchdarkly", "statsig", "auth0", "okta", "clerk", "keycloak",
        "minio", "wandb", "kaggle", "roboflow", "portainer", "paperless", "immich",
        "nextcloud", "grafana", "influxdb", "vaultwarden", "opnsense", "pfsense",
        "proxmox", "unifi", "mikrotik", "zabbix", "netbox", "librenms", "nagios",
        "authentik", "calibre", "vikunja", "ghost", "strapi", "directus", "matomo",
        "plausible", "umami", "tibber", "shelly", "octopus", "bitly", "cloudinary",
        "imgur",
    )
)  # fmt: skip
_SPELT = (
    "news api", "home assistant", "new relic", "open weather", "last.fm", "pi-hole",
    "fly.io", "better uptime", "uptime robot", "alpha vantage", "nabu casa",
    "uptime kuma", "paperless-ngx", "weights & biases", "hugging face",
)  # fmt: skip
_KEY_WORDS = (
    r"(?:api|appid|app id|api[ _-]?keys?|keys?|tokens?|pat|secret|clé|clave|chiave"
    r"|chave"
    r"|schlüssel|klucz|ключ|токен|密钥|キー|key id|credential|auth)"
)
_NAME = lazy_re(
    r"(?i)(?<![\w./@:#-])(?P<name>[a-z][a-z0-9]{2,20}(?:[ .&-][a-z]{2,10})?)"
    rf"(?:\.(?:com|io|net|org))?(?P<said>(?:[ _-]{_KEY_WORDS}){{0,3}})"
    r"(?:[ ]\([^()\n]{1,30}\)|[ ](?:for|für|pour|para|per|of)[ ][\w-]{2,20})?"
    r"[\"'`*_]{0,3}(?P<sign>[ \t]{0,12}(?:[:=|：→]|->|=>|—|–|[ ](?:is|ist|est|es|è"
    r"|é)(?=[ ])|,"
    r"|(?<=[a-z])(?=[ ]))[ \t]{1,12})[\"'`*_(]{0,3}\Z"
)
_LED = lazy_re(
    r"(?:[ \t]{1,3}[^\s:=|]{1,20}){0,3}[ \t\"'`*_)]{0,6}(?:[:=：＝|→是为は]|->|=>|—|–"
    r"|[ ](?:is|was|are|now|ist|lautet|est|es|è|é|to|jest|är|on|это)(?=[ ]))"
    r"[ \t\"'`*_(„“«「]{0,16}"
)
_BESIDE = lazy_re(r"[ \t\"'`*_(„“«「]{1,6}")
_VALUE = lazy_re(
    r"(?<![\w/.@:=+%$#-])(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9][A-Za-z0-9_-]{15,90}"
    r"(?![\w/.@:=+%-]|\.\w)"
)
_FAR = 90  # letters from a name to its key
_NAME_WORD = lazy_re("[a-z][a-z0-9]{2,20}")
_PREFIX = lazy_re("(?!sk_|key_|tok_)[a-z]{2,6}_")  # a customer's, a payment's
_HEX = lazy_re("[0-9a-fA-F]{24,128}")


def beside_names(
    there: LineWords, blocks: Iterable[tuple[int, int]]
) -> Iterator[TextSpan]:
    """Yield the keys beside the names of services, and beside words for a key.

    Args:
        there: The text.
        blocks: Where the lines begin and end that have a piece that may be a token.
    """
    # A value has no blank in it, so it is one in the pieces if it is one in the text.
    pieces = "\n".join(there.tokens)
    if not any(_is_key(found[0]) for found in _VALUE.finditer(pieces)):
        return
    text = there.text
    for found in found_in(_VALUE, text, blocks):
        value = found[0]
        if not _is_key(value):
            continue
        start = text.rfind("\n", max(0, found.start() - _FAR), found.start()) + 1
        before = text[max(start, found.start() - _FAR) : found.start()]
        if _is_named(before, value):
            yield (*found.span(), "api-key")
        elif _is_called(before, value):
            yield (*found.span(), "secret")


def _is_named(before: str, value: str) -> bool:
    """Whether the name of a service comes before a value."""
    low = before.lower()
    if NAMES.isdisjoint(_NAME_WORD.findall(low)) and not has_any(low, _SPELT):
        return False
    found = _NAME.search(before)
    if found is None or _PREFIX.match(value):
        return False
    service = found["name"].lower()
    if not (
        found["said"] or found["sign"].strip() or service in NAMES or service in _SPELT
    ):
        return False
    return not NAMES.isdisjoint(_NAME_WORD.findall(service)) or has_any(service, _SPELT)


def _is_called(before: str, value: str) -> bool:
    """Whether a word for a key or a token leads to a value."""
    labels = list(MADE.finditer(before))
    if not labels or _PREFIX.match(value):
        return False
    between = before[labels[-1].end() :]
    is_long = re.search(r"[ \u2e80-\uffff-]", labels[-1][0]) is not None
    is_plain = _HEX.fullmatch(value) is None and UUID.fullmatch(value) is None
    return _LED.fullmatch(between) is not None or (
        (is_long or is_plain) and _BESIDE.fullmatch(between) is not None
    )


@asked_once
def _is_key(value: str) -> bool:
    """Whether a value looks like the key of a service."""
    if is_placeholder(value) or (is_identifier(value) and not UUID.fullmatch(value)):
        return False
    if _HEX.fullmatch(value) or UUID.fullmatch(value):
        return entropy(value) >= 3.0
    return (
        sum(letter.isdigit() for letter in value) >= 2
        and looks_random(value)
        and not is_wordy(value)
        and max(map(len, re.split("[-_]", value))) >= 14
    )
