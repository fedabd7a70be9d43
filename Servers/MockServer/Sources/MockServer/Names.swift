import APIProvider

// FlyingFox has types of the same names.
typealias Fields = HTTPHeaders
typealias Method = HTTPMethod
typealias JSON = JSONValue
