"""The dashboard: shows a person what the agents know, and lets them put it right.

The server renders its pages; each works without JavaScript. A page is a function in one
of the modules ``*_pages``: it takes a ``PageCall``, calls ``Memory``, and returns a
``Page`` (a template and its values) or a ``Redirect``. ``app`` decides what is the same
for all of them: who asks, forms and their protection, headers, and how a failure looks.
"""
