"""A few dozen types of values: enough to tell a language from an editor; what is in none has no type, and the rule waits."""

from __future__ import annotations

from typing import Final

from chronofact.text.words import DIETS, MONTHS, WEEKDAYS

_MEMBERS: Final = {
    "programming language": "python go golang rust java javascript typescript ruby kotlin swift c c++ c# php perl scala haskell elixir "
    "clojure r julia dart lua zig ocaml erlang cobol fortran",
    "editor": "vim neovim emacs vs-code vscode sublime-text atom zed helix intellij pycharm notepad++ nano cursor webstorm eclipse xcode",
    "database": "postgres postgresql mysql mariadb sqlite mongodb oracle cassandra dynamodb clickhouse duckdb",
    "warehouse": "snowflake bigquery redshift databricks",
    "cache": "redis memcached valkey",
    "web framework": "django flask rails laravel spring express fastapi",
    "front end": "react vue svelte angular next.js nextjs solid ember jquery",
    "bundler": "webpack vite rollup parcel esbuild turbopack",
    "package manager": "npm pnpm yarn bun pip poetry uv conda pipenv",
    "shell": "bash zsh fish powershell nushell",
    "operating system": "windows linux macos ubuntu fedora debian arch android ios mint nixos",
    "browser": "chrome firefox safari edge brave opera vivaldi arc",
    "chat tool": "slack mattermost discord teams zulip telegram whatsapp signal",
    "tracker": "jira linear trello asana basecamp clickup monday.com youtrack",
    "forge": "github gitlab bitbucket gerrit gitea codeberg",
    "ci": "jenkins circleci github-actions gitlab-ci travis buildkite teamcity",
    "notes": "notion evernote obsidian joplin onenote logseq bear roam",
    "hosting": "heroku fly.io vercel netlify aws azure gcp digitalocean render hetzner",
    "test framework": "pytest unittest jest vitest mocha junit",
    "browser tests": "cypress playwright selenium",
    "time tracker": "toggl clockify harvest rescuetime",
    "spoken language": "english spanish french german italian portuguese dutch japanese chinese korean arabic russian polish",
    "color": "red blue green yellow black white pink purple orange teal brown grey gray turquoise violet",
    "drink": "coffee tea wine beer water juice espresso matcha",
    "animal": "cat dog",
    "temperature scale": "celsius fahrenheit kelvin",
    "meal": "breakfast lunch dinner supper brunch",
    "season": "spring summer autumn winter fall",
    "transport": "train bus car bike bicycle plane subway metro tram scooter taxi",
    "pull": "rest graphql grpc soap",
    "indentation": "tab space",
    "weekday": " ".join(WEEKDAYS),
    "month": " ".join(MONTHS),
    "diet": " ".join(DIETS),
}
_TYPES: Final = {member.replace("-", " "): kind for kind, members in _MEMBERS.items() for member in members.split()}
_TOOLS: Final = frozenset(
    {"package manager", "shell", "test framework", "editor", "database", "bundler", "programming language"}
)
REGIONS: Final = frozenset(
    "usa|us|uk|america|england|scotland|wales|ireland|france|germany|spain|italy|portugal|netherlands|belgium|austria|switzerland|poland|"
    "sweden|norway|denmark|finland|iceland|greece|turkey|russia|ukraine|china|japan|korea|india|pakistan|vietnam|thailand|indonesia|"
    "malaysia|philippines|australia|new zealand|canada|mexico|brazil|argentina|chile|peru|colombia|cuba|egypt|morocco|nigeria|kenya|"
    "ghana|south africa|israel|iran|iraq|romania|hungary|czechia|croatia|serbia|bulgaria|europe|asia|africa|"
    "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|hawaii|idaho|illinois|indiana|iowa|"
    "kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|"
    "new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|"
    "south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|"
    "bavaria|catalonia|ontario|quebec|queensland|bay area|midwest|england|united states|united kingdom|scandinavia|"
    "manhattan|brooklyn|queens|bronx|soho".split("|")
)
"""Places that hold other places, or lie in one: between such and a city, another value may be the same place."""


_SCALES: Final = tuple(
    tuple(frozenset(pole.split()) for pole in scale.split("|"))
    for scale in (
        "short brief concise terse quick|long detailed lengthy verbose thorough",
        "dark|light milk bright|white|medium",
        "hot warm|cold iced cool frozen",
        "big large huge|small tiny compact",
        "cheap affordable budget|expensive luxury",
        "formal professional|casual informal friendly",
        "morning early|afternoon|evening|night late",
        "weekday|weekend",
        "window|aisle|middle",
        "sweet|savory|spicy|mild|salty|bitter",
        "quiet calm|loud lively noisy",
        "wired|wireless",
        "physical paper printed|digital electronic",
        "remote virtual online|onsite office|hybrid",
        "day|night|swing|graveyard",
        "red|white|rose|sparkling",
        "metric|imperial",
        "dry|wet|raw fresh|cooked|canned|frozen",
        "indoor|outdoor",
        "front|back",
        "decaf|regular",
        "high|low|normal",
        "async asynchronous|sync synchronous",
        "functional|object-oriented",
        "full|half|part",
    )
)
"""Words that answer one and the same question: who wants short meetings may want them in the morning."""


def are_alternatives(one: str, other: str) -> bool | None:
    """Whether two phrases differ in one quality; False where in different ones, None where that is not known."""
    left, right = set(one.split()) - set(other.split()), set(other.split()) - set(one.split())
    poles = [
        {
            (scale, pole)
            for scale, all_poles in enumerate(_SCALES)
            for pole, said in enumerate(all_poles)
            if words & said
        }
        for words in (left, right)
    ]
    if all(poles):
        return any(scale == other and pole != against for scale, pole in poles[0] for other, against in poles[1])
    kinds = [type_of(" ".join(sorted(words))) for words in (left, right)]
    return True if kinds[0] and kinds[0] == kinds[1] else None


_TOGETHER: Final = (
    frozenset({"single", "divorced", "widowed", "separated"}),
    frozenset({"dating", "divorced", "widowed", "separated"}),
    frozenset({"engaged", "divorced", "widowed"}),
)
"""Who is divorced may be single, or dating."""


def are_apart(old: str, new: str) -> bool:
    """Whether nobody is both at once; values are ``dating`` or ``dating sam``."""
    kinds = {old.partition(" ")[0], new.partition(" ")[0]}
    return len(kinds) > 1 and not any(kinds <= both for both in _TOGETHER)


def type_of(value: str) -> str:
    """The type of a normalised value; empty where none is known."""
    if value in _TYPES:
        return _TYPES[value]
    words = value.split()
    numbers = [word for word in words if any(ch.isdigit() for ch in word)]
    if numbers and len(numbers) < len(words):
        return type_of(" ".join(word for word in words if word not in numbers))
    return _TYPES.get(words[-1], "") if words else ""


def is_tool(word: str) -> bool:
    """Whether a lower-case word is the name of a tool, however English it looks."""
    return _TYPES.get(word) in _TOOLS


def place_type(value: str) -> str:
    """``region`` where places lie inside it, else ``place``."""
    return "region" if value.removeprefix("the ") in REGIONS else "place"
