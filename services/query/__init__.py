"""The query service: takes documents in, knows the state of each, and answers questions over HTTP.

Here stand the wiring, the settings and the values that all packages share; everything else is in a
package.
"""
