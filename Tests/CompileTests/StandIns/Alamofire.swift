// Names that Alamofire has, too.
public class RetryPolicy {}
public struct HTTPMethod {}
public struct HTTPHeaders {}
