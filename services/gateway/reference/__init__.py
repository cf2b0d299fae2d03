"""What the generated OpenAPI document holds beside the routes: error responses, example answers and
links between operations; and the pages that show the document.
"""
