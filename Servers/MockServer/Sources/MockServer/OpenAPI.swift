/// The description of `/__mock`.
enum OpenAPI {
    // A resource does not build for several architectures at once with Swift 6.1 and 6.2.
    static let document = #"""
        {
          "openapi": "3.0.3",
          "info": {
            "title": "The control of mock-server",
            "version": "1",
            "description": "Adds stubs and shows requests. Only programs of the same machine may use it, and no web page. Methods other than GET need the header Content-Type: application/json, also without a body. A parameter or member that is not described here is a 400."
          },
          "paths": {
            "/__mock": {
              "delete": {"summary": "Starts anew: all stubs and requests go, and the answers that the server was started with are fresh.", "responses": {"200": {"$ref": "#/components/responses/Done"}, "403": {"$ref": "#/components/responses/Refused"}, "409": {"$ref": "#/components/responses/Mistake"}, "415": {"$ref": "#/components/responses/Refused"}}}
            },
            "/__mock/health": {
              "get": {"summary": "Answers as soon as the server listens.", "responses": {"200": {"$ref": "#/components/responses/Done"}}}
            },
            "/__mock/openapi.json": {
              "get": {"summary": "This document.", "responses": {"200": {"description": "The document.", "content": {"application/json": {"schema": {"type": "object"}}}}}}
            },
            "/__mock/requests": {
              "get": {"summary": "The newest 1,000 requests, the oldest first, without secrets.", "parameters": [{"$ref": "#/components/parameters/Path"}, {"$ref": "#/components/parameters/Method"}], "responses": {"200": {"$ref": "#/components/responses/Requests"}, "400": {"$ref": "#/components/responses/Mistake"}}},
              "delete": {"summary": "Forgets the requests, and keeps the stubs.", "responses": {"200": {"$ref": "#/components/responses/Done"}, "403": {"$ref": "#/components/responses/Refused"}, "415": {"$ref": "#/components/responses/Refused"}}}
            },
            "/__mock/unmatched": {
              "get": {"summary": "The requests that found no answer, the oldest first, without secrets.", "parameters": [{"$ref": "#/components/parameters/Path"}, {"$ref": "#/components/parameters/Method"}], "responses": {"200": {"$ref": "#/components/responses/Requests"}, "400": {"$ref": "#/components/responses/Mistake"}}}
            },
            "/__mock/verify": {
              "get": {"summary": "Checks that each stub was used, and that each request found an answer.", "responses": {"200": {"$ref": "#/components/responses/Done"}, "409": {"description": "The report of what is missing.", "content": {"text/plain": {"schema": {"type": "string"}}}}}}
            },
            "/__mock/stubs": {
              "get": {"summary": "The stubs that were added here, and how often each was used.", "responses": {"200": {"description": "The stubs, the oldest first.", "content": {"application/json": {"schema": {"type": "object", "required": ["stubs"], "properties": {"stubs": {"type": "array", "items": {"type": "object", "required": ["id", "stub", "uses"], "properties": {"id": {"type": "integer"}, "stub": {"type": "string"}, "uses": {"type": "integer"}}}}}}}}}}},
              "post": {"summary": "Adds a stub. Of several that match, the newest answers.", "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Stub"}}}}, "responses": {"201": {"description": "The stub's number.", "content": {"application/json": {"schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}}, "400": {"$ref": "#/components/responses/Mistake"}, "403": {"$ref": "#/components/responses/Refused"}, "415": {"$ref": "#/components/responses/Refused"}}}
            },
            "/__mock/stubs/{id}": {
              "delete": {"summary": "Ends a stub.", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}], "responses": {"200": {"$ref": "#/components/responses/Done"}, "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Mistake"}, "415": {"$ref": "#/components/responses/Refused"}}}
            }
          },
          "components": {
            "parameters": {
              "Path": {"name": "path", "in": "query", "description": "Only requests with this path, decoded.", "schema": {"type": "string"}},
              "Method": {"name": "method", "in": "query", "description": "Only requests with this method.", "schema": {"type": "string"}}
            },
            "responses": {
              "Done": {"description": "Done.", "content": {"application/json": {"schema": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string", "enum": ["ok"]}}}}}},
              "Mistake": {"description": "A sentence that names the member that is wrong.", "content": {"application/json": {"schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}}}},
              "Refused": {"description": "A sentence that says why.", "content": {"text/plain": {"schema": {"type": "string"}}}},
              "Requests": {"description": "The requests.", "content": {"application/json": {"schema": {"type": "object", "required": ["requests", "removed"], "properties": {"removed": {"type": "integer", "description": "The number of older requests that are gone."}, "requests": {"type": "array", "items": {"$ref": "#/components/schemas/Request"}}}}}}}
            },
            "schemas": {
              "Request": {
                "type": "object",
                "required": ["method", "path", "url", "headers", "bodySize"],
                "properties": {
                  "method": {"type": "string"},
                  "path": {"type": "string"},
                  "url": {"type": "string"},
                  "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                  "body": {"type": "string", "description": "The first 64 KB. Missing if it is empty, no text, or more than 1 MB."},
                  "bodySize": {"type": "integer", "description": "In bytes."}
                }
              },
              "Stub": {
                "type": "object",
                "required": ["path", "response"],
                "additionalProperties": false,
                "properties": {
                  "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"], "default": "GET"},
                  "path": {"type": "string", "description": "* stands for one segment, and /** at the end for any further ones.", "example": "/repos/*/*"},
                  "query": {"$ref": "#/components/schemas/Parameters"},
                  "headers": {"$ref": "#/components/schemas/Headers"},
                  "json": {"description": "The JSON that the body has. Numbers are compared by their digits: 1 is 1.0."},
                  "jsonContaining": {"description": "JSON that the body contains: objects may have more members."},
                  "form": {"$ref": "#/components/schemas/Parameters"},
                  "times": {"type": "integer", "minimum": 0, "description": "The number of requests that the stub answers. Any number by default."},
                  "expecting": {"type": "integer", "minimum": 0, "description": "The exact number of requests that GET /__mock/verify asks for. At least one by default."},
                  "repeatLast": {"type": "boolean", "default": false, "description": "Whether the last response of an array answers all further requests."},
                  "response": {"oneOf": [{"$ref": "#/components/schemas/Response"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Response"}, "description": "One after the other. After the last, requests find no answer, unless repeatLast is true."}]}
                }
              },
              "Response": {
                "type": "object",
                "description": "At most one of json, text, base64, fixture, events and fault.",
                "additionalProperties": false,
                "properties": {
                  "status": {"type": "integer", "minimum": 200, "maximum": 599, "default": 200},
                  "headers": {"$ref": "#/components/schemas/Headers"},
                  "json": {"description": "Sent as it was written."},
                  "text": {"type": "string"},
                  "base64": {"type": "string"},
                  "fixture": {"type": "string", "description": "The path of a file in the folder that the server was started with."},
                  "events": {"type": "array", "description": "Server-sent events.", "items": {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "properties": {"data": {"type": "string"}, "type": {"type": "string"}, "id": {"type": "string"}}}]}},
                  "delay": {"type": "number", "minimum": 0, "maximum": 300, "description": "Seconds before the response, or before each event."},
                  "fault": {"type": "string", "enum": ["close"], "description": "The connection ends without an answer."}
                }
              },
              "Headers": {"type": "object", "additionalProperties": {"type": "string"}},
              "Parameters": {"type": "object", "additionalProperties": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}
            }
          }
        }
        """#
}
