"""The /docs page: the service's own OpenAPI description as plain HTML, with nothing fetched from elsewhere."""

from __future__ import annotations

from html import escape
from string import Template
from typing import Final

_PAGE: Final = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}
h1{font-size:1.5rem}details{border:1px solid #d5dde5;border-radius:6px;margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}code,pre{font:14px/1.4 ui-monospace,monospace;background:#f3f6f9}
pre{padding:.75rem;overflow:auto;border-radius:6px}.verb{display:inline-block;min-width:3.5rem;font-weight:700}
table{border-collapse:collapse}td,th{text-align:left;padding:.15rem .75rem .15rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#12181f;color:#dce4ec}code,pre{background:#1b2530}
details{border-color:#2c3947}}
</style></head><body><h1>$title</h1><p id="about">Reading <a href="/openapi.json">/openapi.json</a> …</p>
<div id="calls"></div><h2>Schemas</h2><div id="schemas"></div>
<script>
const make=(tag,text,...inner)=>{const e=document.createElement(tag);if(text)e.textContent=text;e.append(...inner);return e};
const block=(title,thing)=>make("details","",make("summary",title),make("pre",JSON.stringify(thing,null,2)));
const call=(path,verb,op)=>{
  const head=make("summary","",Object.assign(make("span",verb.toUpperCase()),{className:"verb"}),
    make("code",path)," "+(op.summary||""));
  const body=make("details","",head);
  if(op.description)body.append(make("p",op.description));
  if(op.parameters){const t=make("table");for(const p of op.parameters)t.append(make("tr","",make("td","",make("code",p.name)),
    make("td",p.in+(p.required?", required":"")),make("td",p.description||"")));body.append(t)}
  if(op.requestBody)body.append(block("Body",op.requestBody));
  body.append(block("Answers",op.responses||{}));return body};
fetch("/openapi.json").then(r=>r.json()).then(api=>{
  document.getElementById("about").textContent=(api.info.summary||"")+" Version "+api.info.version+".";
  for(const[path,verbs]of Object.entries(api.paths))for(const[verb,op]of Object.entries(verbs))
    document.getElementById("calls").append(call(path,verb,op));
  for(const[name,schema]of Object.entries((api.components||{}).schemas||{}))
    document.getElementById("schemas").append(block(name,schema));
});
</script></body></html>
""")


def docs_page(title: str) -> str:
    """The page of one service."""
    return _PAGE.substitute(title=escape(title))
