"""The query service: knows the state of each document, and answers questions.

Here stand the wiring, the settings and the values that all packages share; everything else is in a
package.
"""
