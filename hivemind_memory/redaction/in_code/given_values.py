"""Places of commands and code that take a password; ``letter_places`` judges it."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re

OF_COMMAND = lazy_re(
    r"(?i)pass\w{0,8}[-_]?(?:command|cmd)[\"']?[ =:]{1,3}[\"']?(?:echo|printf)[ \t]+"
    r"[\"']?"
    r"(?P<value>[^\s\"'|;]{5,100})"
)
HEREDOC = lazy_re(
    r"(?i)(?:pass(?:word|phrase|wd)?|pwd|pw|secret|token)[\"')\]]{0,3}"
    r"[ \t]{0,4}[=:]?[ \t]{0,4}<<[-~]?[\"']?(?P<end>\w{2,20})[\"']?[ \t]*\r?\n"
    r"[ \t]*(?P<value>\S{5,100})[ \t]*\r?\n"
    r"[ \t]*(?P=end)"
)
BASIC = lazy_re(
    r"(?i)(?:base64|b64|btoa)[\w.:]{0,20}\([ \t]{0,4}b?[\"'][\w.@-]{1,40}:"
    r"(?P<value>[^\"'\n]{4,80})[\"']"
)
BESIDE_NAME = lazy_re(
    r"[\"'](?P<name>[\w.-]{2,60}+)[\"'][ \t]{0,4},[ \t]{0,4}"
    r"(?P<quote>[\"'])(?P<value>[^\"'`\\\s]{5,100}+)(?P=quote)"
)
ELEMENT = lazy_re(
    r"<(?:[\w:.-]{1,40}[^<>\n]{0,80}?\b(?:name|key|id)[ \t]{0,2}=[ \t]{0,2}[\"'])?"
    r"(?P<name>[\w:.-]{2,60}+)(?:[\"'][^<>\n]{0,80})?>(?:\s{0,20}<[Vv]alue>)?[ \t]{0,4}"
    r"(?P<value>[^<>\s]{5,100}+)[ \t]{0,4}</"
)
ATTRIBUTE = lazy_re(
    r"\b(?:key|name|id)=[\"'](?:[\w.-]{1,40}:){0,3}(?P<name>[\w.-]{2,60}+)[\"']"
    r"[ \t]{1,8}"
    r"value=[\"'](?P<value>[^\"'\s]{5,100}+)[\"']"
)
VARIABLE = lazy_re(
    r"variable[ \t]+\"(?P<name>[\w-]{2,60}+)\"[ \t]*+\{[^{}]{0,400}?\bdefaul"
    r"t[ \t]*+=[ \t]*+"
    r"\"(?P<value>[^\"\s]{5,100}+)\""
)
CALL = lazy_re(
    r"(?i)\b(?:define|putenv|env|ini_set|(?:get|set|add|put|with)\w{0,20}|op"
    r"tion|config)"
    r"[ \t]{0,4}\([ \t]{0,4}[\"'](?P<name>[\w.-]{2,60}+)[\"'][ \t]{0,4},[ \t]{0,16}"
    r"[\"'](?P<value>[^\"'\s]{5,100}+)[\"'][ \t]{0,4}[,)]"
)
