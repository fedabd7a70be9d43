import APIProvider

// NIOHTTP1 has types of the same names.
typealias Fields = HTTPHeaders
typealias Method = HTTPMethod
typealias JSON = JSONValue
