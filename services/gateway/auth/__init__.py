"""Who may call the API: credentials and their permissions, the middleware that checks them before
every route, rate limits, the login routes, the audit line and the security headers.
"""
