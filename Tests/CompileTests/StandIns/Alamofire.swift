/// A name that Alamofire has, too.
public class RetryPolicy {}
/// A name that Alamofire has, too.
public struct HTTPMethod {}
/// A name that Alamofire has, too.
public struct HTTPHeaders {}
