"""What every route stands on: the HTTP host, the door, endpoints and the OpenAPI document."""
