export function Offers({ appId }: { appId: string }) { return <p>{appId}</p>; }
